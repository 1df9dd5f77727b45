"""Long work that goes on after a crash: its processes, and whether they are alive."""
