//! Agents as the program meets them: missing, silent, loud, at a limit, without rights; what a person sees of
//! their work, and what may not be read off it.

mod agents;
mod asking;
mod canaries;
mod causes;
mod fair;
mod holds;
mod narrative;
mod secrets;
mod slots;
