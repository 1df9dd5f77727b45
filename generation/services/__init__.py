"""All writes to the material: datasets, graphs, setups and responses; and the work behind them."""
