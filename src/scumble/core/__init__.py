"""What everything else is made of: errors, coins, channels, domains, and how results show themselves."""
