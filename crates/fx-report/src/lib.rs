//! fx-report.
