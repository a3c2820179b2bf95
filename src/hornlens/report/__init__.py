"""What people see: tables and text (and, in time, the HTML report)."""
