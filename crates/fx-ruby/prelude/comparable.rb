# comparable
