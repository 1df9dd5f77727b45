"""Long work that goes on after a crash: claims of workers, their processes and their health."""
