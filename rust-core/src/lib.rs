//! Loss forecasts and core allocation for quality-driven scheduling of iterative training.
