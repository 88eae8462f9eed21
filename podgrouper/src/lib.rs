//! Pod -> owner chain -> `PodGroup`, and the controllers around it.
