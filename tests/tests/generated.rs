//! Files that have a source elsewhere in the repository are as their source says.

#[test]
fn generated_files_are_as_their_source_says() {
    if let Err(error) = kai_tests::generated::check() {
        panic!("{error:#}");
    }
}
