fn main() -> std::process::ExitCode {
    loopctl::main()
}
