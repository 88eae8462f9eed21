# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_kubectl_kai_global_optspecs
    string join \n n/namespace= A/all-namespaces context= kubeconfig= o/output= no-headers color= ascii quiet v/verbose cluster= user= s/server= token= as= as-group= certificate-authority= insecure-skip-tls-verify tls-server-name= request-timeout= cache-dir= h/help V/version
end

function __fish_kubectl_kai_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_kubectl_kai_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_kubectl_kai_using_subcommand
    set -l cmd (__fish_kubectl_kai_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -s n -l namespace -d 'Namespace to work in' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -l context -d 'Kubeconfig context' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -l kubeconfig -d 'Kubeconfig file' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -l cluster -d 'Kubeconfig cluster' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -l user -d 'Kubeconfig user' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -l token -d 'Bearer token' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -l as -d 'User to impersonate' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -l as-group -d 'Group to impersonate, repeatable' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -l certificate-authority -d 'Certificate authority of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -l tls-server-name -d 'Name expected in the certificate of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -l cache-dir -d 'Folder for the completion cache' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -s v -l verbose -d 'Say more'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -s V -l version -d 'Print version'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "sandbox" -d 'A whole cluster in this process: try it without one'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "install" -d 'Install, check or remove the scheduler'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "completion" -d 'Shell completion, also through `kubectl kai <TAB>`'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "config" -d 'Defaults, and where each value came from'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "version" -d 'Client and scheduler versions'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "options" -d 'Connection flags that every command takes'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -s n -l namespace -d 'Namespace to work in' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l context -d 'Kubeconfig context' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l kubeconfig -d 'Kubeconfig file' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l cluster -d 'Kubeconfig cluster' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l user -d 'Kubeconfig user' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l token -d 'Bearer token' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l as -d 'User to impersonate' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l as-group -d 'Group to impersonate, repeatable' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l certificate-authority -d 'Certificate authority of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l tls-server-name -d 'Name expected in the certificate of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l cache-dir -d 'Folder for the completion cache' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -s v -l verbose -d 'Say more'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install" -s n -l namespace -d 'Namespace to work in' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install" -l context -d 'Kubeconfig context' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install" -l kubeconfig -d 'Kubeconfig file' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install" -l cluster -d 'Kubeconfig cluster' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install" -l user -d 'Kubeconfig user' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install" -l token -d 'Bearer token' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install" -l as -d 'User to impersonate' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install" -l as-group -d 'Group to impersonate, repeatable' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install" -l certificate-authority -d 'Certificate authority of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install" -l tls-server-name -d 'Name expected in the certificate of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install" -l cache-dir -d 'Folder for the completion cache' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install" -s v -l verbose -d 'Say more'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall" -s n -l namespace -d 'Namespace to work in' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall" -l context -d 'Kubeconfig context' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall" -l kubeconfig -d 'Kubeconfig file' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall" -l cluster -d 'Kubeconfig cluster' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall" -l user -d 'Kubeconfig user' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall" -l token -d 'Bearer token' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall" -l as -d 'User to impersonate' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall" -l as-group -d 'Group to impersonate, repeatable' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall" -l certificate-authority -d 'Certificate authority of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall" -l tls-server-name -d 'Name expected in the certificate of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall" -l cache-dir -d 'Folder for the completion cache' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall" -s v -l verbose -d 'Say more'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall" -f -a "bash" -d 'Print the script for bash'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall" -f -a "zsh" -d 'Print the script for zsh'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall" -f -a "fish" -d 'Print the script for fish'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall" -f -a "powershell" -d 'Print the script for `PowerShell`'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall" -f -a "elvish" -d 'Print the script for elvish'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall" -f -a "install" -d 'Make `kubectl kai <TAB>` work: link kubectl_complete-kai to this program'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall" -f -a "uninstall" -d 'Remove the link'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -s n -l namespace -d 'Namespace to work in' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l context -d 'Kubeconfig context' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l kubeconfig -d 'Kubeconfig file' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l cluster -d 'Kubeconfig cluster' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l user -d 'Kubeconfig user' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l token -d 'Bearer token' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l as -d 'User to impersonate' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l as-group -d 'Group to impersonate, repeatable' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l certificate-authority -d 'Certificate authority of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l tls-server-name -d 'Name expected in the certificate of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l cache-dir -d 'Folder for the completion cache' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -s v -l verbose -d 'Say more'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -s n -l namespace -d 'Namespace to work in' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l context -d 'Kubeconfig context' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l kubeconfig -d 'Kubeconfig file' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l cluster -d 'Kubeconfig cluster' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l user -d 'Kubeconfig user' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l token -d 'Bearer token' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l as -d 'User to impersonate' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l as-group -d 'Group to impersonate, repeatable' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l certificate-authority -d 'Certificate authority of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l tls-server-name -d 'Name expected in the certificate of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l cache-dir -d 'Folder for the completion cache' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -s v -l verbose -d 'Say more'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -s n -l namespace -d 'Namespace to work in' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l context -d 'Kubeconfig context' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l kubeconfig -d 'Kubeconfig file' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l cluster -d 'Kubeconfig cluster' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l user -d 'Kubeconfig user' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l token -d 'Bearer token' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l as -d 'User to impersonate' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l as-group -d 'Group to impersonate, repeatable' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l certificate-authority -d 'Certificate authority of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l tls-server-name -d 'Name expected in the certificate of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l cache-dir -d 'Folder for the completion cache' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -s v -l verbose -d 'Say more'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -s n -l namespace -d 'Namespace to work in' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l context -d 'Kubeconfig context' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l kubeconfig -d 'Kubeconfig file' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l cluster -d 'Kubeconfig cluster' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l user -d 'Kubeconfig user' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l token -d 'Bearer token' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l as -d 'User to impersonate' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l as-group -d 'Group to impersonate, repeatable' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l certificate-authority -d 'Certificate authority of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l tls-server-name -d 'Name expected in the certificate of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l cache-dir -d 'Folder for the completion cache' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -s v -l verbose -d 'Say more'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -s n -l namespace -d 'Namespace to work in' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l context -d 'Kubeconfig context' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l kubeconfig -d 'Kubeconfig file' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l cluster -d 'Kubeconfig cluster' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l user -d 'Kubeconfig user' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l token -d 'Bearer token' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l as -d 'User to impersonate' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l as-group -d 'Group to impersonate, repeatable' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l certificate-authority -d 'Certificate authority of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l tls-server-name -d 'Name expected in the certificate of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l cache-dir -d 'Folder for the completion cache' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -s v -l verbose -d 'Say more'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l shim-dir -d 'Folder for the link; it has to be in PATH' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -s n -l namespace -d 'Namespace to work in' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l context -d 'Kubeconfig context' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l kubeconfig -d 'Kubeconfig file' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l cluster -d 'Kubeconfig cluster' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l user -d 'Kubeconfig user' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l token -d 'Bearer token' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l as -d 'User to impersonate' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l as-group -d 'Group to impersonate, repeatable' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l certificate-authority -d 'Certificate authority of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l tls-server-name -d 'Name expected in the certificate of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l cache-dir -d 'Folder for the completion cache' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -s v -l verbose -d 'Say more'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l shim-dir -d 'Folder of the link' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -s n -l namespace -d 'Namespace to work in' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l context -d 'Kubeconfig context' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l kubeconfig -d 'Kubeconfig file' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l cluster -d 'Kubeconfig cluster' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l user -d 'Kubeconfig user' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l token -d 'Bearer token' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l as -d 'User to impersonate' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l as-group -d 'Group to impersonate, repeatable' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l certificate-authority -d 'Certificate authority of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l tls-server-name -d 'Name expected in the certificate of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l cache-dir -d 'Folder for the completion cache' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -s v -l verbose -d 'Say more'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path" -s n -l namespace -d 'Namespace to work in' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path" -l context -d 'Kubeconfig context' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path" -l kubeconfig -d 'Kubeconfig file' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path" -l cluster -d 'Kubeconfig cluster' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path" -l user -d 'Kubeconfig user' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path" -l token -d 'Bearer token' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path" -l as -d 'User to impersonate' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path" -l as-group -d 'Group to impersonate, repeatable' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path" -l certificate-authority -d 'Certificate authority of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path" -l tls-server-name -d 'Name expected in the certificate of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path" -l cache-dir -d 'Folder for the completion cache' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path" -s v -l verbose -d 'Say more'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path" -f -a "view" -d 'Every setting that has a value'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path" -f -a "get" -d 'One value'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path" -f -a "set" -d 'Write a value into a file'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path" -f -a "unset" -d 'Remove a value from a file'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path" -f -a "path" -d 'The files that are read, the first wins'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -s n -l namespace -d 'Namespace to work in' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l context -d 'Kubeconfig context' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l kubeconfig -d 'Kubeconfig file' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l cluster -d 'Kubeconfig cluster' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l user -d 'Kubeconfig user' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l token -d 'Bearer token' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l as -d 'User to impersonate' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l as-group -d 'Group to impersonate, repeatable' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l certificate-authority -d 'Certificate authority of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l tls-server-name -d 'Name expected in the certificate of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l cache-dir -d 'Folder for the completion cache' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l show-origin -d 'Say where each value was set, and what it hides'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -s v -l verbose -d 'Say more'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -s n -l namespace -d 'Namespace to work in' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -l context -d 'Kubeconfig context' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -l kubeconfig -d 'Kubeconfig file' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -l cluster -d 'Kubeconfig cluster' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -l user -d 'Kubeconfig user' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -l token -d 'Bearer token' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -l as -d 'User to impersonate' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -l as-group -d 'Group to impersonate, repeatable' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -l certificate-authority -d 'Certificate authority of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -l tls-server-name -d 'Name expected in the certificate of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -l cache-dir -d 'Folder for the completion cache' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -s v -l verbose -d 'Say more'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -l scope -d 'Which file' -r -f -a "user\t''
project\t''"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -s n -l namespace -d 'Namespace to work in' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -l context -d 'Kubeconfig context' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -l kubeconfig -d 'Kubeconfig file' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -l cluster -d 'Kubeconfig cluster' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -l user -d 'Kubeconfig user' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -l token -d 'Bearer token' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -l as -d 'User to impersonate' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -l as-group -d 'Group to impersonate, repeatable' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -l certificate-authority -d 'Certificate authority of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -l tls-server-name -d 'Name expected in the certificate of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -l cache-dir -d 'Folder for the completion cache' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -s v -l verbose -d 'Say more'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l scope -d 'Which file' -r -f -a "user\t''
project\t''"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -s n -l namespace -d 'Namespace to work in' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l context -d 'Kubeconfig context' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l kubeconfig -d 'Kubeconfig file' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l cluster -d 'Kubeconfig cluster' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l user -d 'Kubeconfig user' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l token -d 'Bearer token' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l as -d 'User to impersonate' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l as-group -d 'Group to impersonate, repeatable' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l certificate-authority -d 'Certificate authority of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l tls-server-name -d 'Name expected in the certificate of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l cache-dir -d 'Folder for the completion cache' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -s v -l verbose -d 'Say more'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -s n -l namespace -d 'Namespace to work in' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l context -d 'Kubeconfig context' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l kubeconfig -d 'Kubeconfig file' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l cluster -d 'Kubeconfig cluster' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l user -d 'Kubeconfig user' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l token -d 'Bearer token' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l as -d 'User to impersonate' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l as-group -d 'Group to impersonate, repeatable' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l certificate-authority -d 'Certificate authority of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l tls-server-name -d 'Name expected in the certificate of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l cache-dir -d 'Folder for the completion cache' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -s v -l verbose -d 'Say more'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -s n -l namespace -d 'Namespace to work in' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l context -d 'Kubeconfig context' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l kubeconfig -d 'Kubeconfig file' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l cluster -d 'Kubeconfig cluster' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l user -d 'Kubeconfig user' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l token -d 'Bearer token' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l as -d 'User to impersonate' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l as-group -d 'Group to impersonate, repeatable' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l certificate-authority -d 'Certificate authority of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l tls-server-name -d 'Name expected in the certificate of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l cache-dir -d 'Folder for the completion cache' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l client -d 'Ask no server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -s v -l verbose -d 'Say more'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -s n -l namespace -d 'Namespace to work in' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l context -d 'Kubeconfig context' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l kubeconfig -d 'Kubeconfig file' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l cluster -d 'Kubeconfig cluster' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l user -d 'Kubeconfig user' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l token -d 'Bearer token' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l as -d 'User to impersonate' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l as-group -d 'Group to impersonate, repeatable' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l certificate-authority -d 'Certificate authority of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l tls-server-name -d 'Name expected in the certificate of the API server' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l cache-dir -d 'Folder for the completion cache' -r
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -s v -l verbose -d 'Say more'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -s h -l help -d 'Print help'
