# ostruct
