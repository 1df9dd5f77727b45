"""What the figures of all reports are made with: builders, colours, free places."""
