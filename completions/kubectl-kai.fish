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

complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -s V -l version -d 'Print version'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "submit" -d 'Submit a job in any framework, or any manifest, to a queue'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "wait" -d 'Wait until workloads are scheduled, running or finished'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "suspend" -d 'Give the GPUs back but keep the workload'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "resume" -d 'Put suspended workloads back in the queue'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "delete" -d 'Delete workloads'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "list" -d 'Workloads with their state and the reason why they wait'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "describe" -d 'One workload on one screen'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "queues" -d 'Queue tree, quotas, use; create, set, delete'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "top" -d 'Every GPU, and who holds what of it'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "logs" -d 'Logs of all ranks, merged'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "sandbox" -d 'A whole cluster in this process: try it without one'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "install" -d 'Install, check or remove the scheduler'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "snapshot" -d 'What the scheduler sees of the cluster, in a file; and what it would do next'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "completion" -d 'Shell completion, also through `kubectl kai <TAB>`'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "config" -d 'Defaults, and where each value came from'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "version" -d 'Client and scheduler versions'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "options" -d 'Connection flags that every command takes'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -s f -l filename -d 'Manifest to submit, of any kind; - is standard input, repeatable' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l template -d 'Template of your own instead of the kind\'s' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l image -d 'Container image' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -s g -l gpu -d 'GPUs of each worker: 2, 0.5, 0.25x4 (a quarter of each of four), 8Gi, 8Gix2, mig:1g.10gb, H100:4' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l gpu-type -d 'Model of GPU, such as H100 or A100-SXM4-80GB' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l gpu-memory -d 'GPU memory of each worker on one shared device, such as 8Gi' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l gpu-fraction-container -d 'Container that gets the share of a GPU; the first one without it' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l cpu -d 'CPU of each worker, such as 4 or 500m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l memory -d 'Memory of each worker, such as 64Gi' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -s e -l env -d 'Environment variable NAME=VALUE, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -s q -l queue -d 'Queue to wait in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l priority -d 'Priority class: train, build, inference, ...' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l preemptible -d 'Whether others may take its GPUs: true (also without a value) or false' -r -f -a "true\t''
false\t''"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -s w -l workers -d 'Pods that work: N, or N..M where the framework can grow and shrink' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l min -d 'How many of the workers must start together (default: all)' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l max-runtime -d 'Longest run, such as 12h' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l retries -d 'Retries after a failure' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -s l -l label -d 'Label KEY=VALUE on the workload and its pods, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l annotation -d 'Annotation KEY=VALUE on the workload, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l wait -d 'Wait until it is scheduled, running or complete (also without a value: complete)' -r -f -a "scheduled\t'All pods of the gang have a node'
running\t'All pods run'
complete\t'It has ended'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l timeout -d 'Longest wait, such as 30m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l dry-run -d 'Create nothing: none, client (asks at most which kinds are served), server (all checks of the cluster)' -r -f -a "none\t'It is'
client\t'Only rendered and checked here, of the kinds that the cluster serves'
server\t'Checked by the API server, not stored'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l no-gang -d 'Let each worker start alone'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l force -d 'Submit in spite of another scheduler in the manifest, or of a queue in which nothing can run'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l for -d 'State to wait for' -r -f -a "scheduled\t'All its pods have nodes'
running\t'All its pods run'
complete\t'It has ended'
failed\t'It has ended, and badly'
deleted\t'It is gone'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l timeout -d 'Longest wait, such as 30m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -l dry-run -d 'Only let the server check it'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -l dry-run -d 'Only let the server check it'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -s q -l queue -d 'Workloads of a queue, and of those below it' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -l status -d 'Workloads in one of these states, such as pending,running' -r -f -a "waiting\t'There are no pods yet'
pending\t'Pods wait for nodes'
starting\t'Pods have nodes and start'
running\t''
degraded\t'Some pods of a service are ready, not all'
suspended\t''
deleting\t''
succeeded\t''
failed\t''"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -l kind -d 'Workloads of one kind, such as pytorch or rayjob' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -s l -l selector -d 'Workloads with these labels, such as team=vision,tier!=dev' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -l since -d 'Workloads that are at most so old, such as 2h' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -l older -d 'Workloads that are older, such as 7d' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -s y -l yes -d 'Ask nothing'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -l dry-run -d 'Only say what would be deleted'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -s q -l queue -d 'Workloads of a queue, and of those below it' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l status -d 'Workloads in one of these states, such as pending,running' -r -f -a "waiting\t'There are no pods yet'
pending\t'Pods wait for nodes'
starting\t'Pods have nodes and start'
running\t''
degraded\t'Some pods of a service are ready, not all'
suspended\t''
deleting\t''
succeeded\t''
failed\t''"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l kind -d 'Workloads of one kind, such as pytorch or rayjob' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -s l -l selector -d 'Workloads with these labels, such as team=vision,tier!=dev' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l since -d 'Workloads that are at most so old, such as 2h' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l older -d 'Workloads that are older, such as 7d' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -l events -d 'How many events to show' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete help" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete help" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete help" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete help" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete help" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete help" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete help" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete help" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete help" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete help" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete help" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete help" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete help" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete help" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete help" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete help" -l flat -d 'A flat list with all amounts, no tree'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete help" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete help" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete help" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete help" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete help" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete help" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete help" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete help" -a "create" -d 'Create a queue'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete help" -a "set" -d 'Change quota, limit, weight or priority of a queue'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete help" -a "delete" -d 'Delete queues without children and without work'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete help" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -l parent -d 'Queue above it' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -l gpu-quota -d 'GPUs that it is owed' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -l gpu-limit -d 'GPUs that it may use at most' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -l gpu-weight -d 'Its part of GPUs that are left over, against its siblings' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -l cpu-quota -d 'CPU cores that it is owed, such as 64 or 500m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -l cpu-limit -d 'CPU cores that it may use at most' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -l cpu-weight -d 'Its part of CPU that is left over' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -l memory-quota -d 'Memory that it is owed, such as 512Gi' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -l memory-limit -d 'Memory that it may use at most' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -l memory-weight -d 'Its part of memory that is left over' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -l priority -d 'Queues with a higher number come first' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -l display-name -d 'Name for people' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -l preempt-min-runtime -d 'Run time before others of the same queue may preempt, such as 30m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -l reclaim-min-runtime -d 'Run time before other queues may reclaim, such as 30m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -l dry-run -d 'Create nothing: none, client or server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -s y -l yes -d 'Ask nothing'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l gpu-quota -d 'GPUs that it is owed' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l gpu-limit -d 'GPUs that it may use at most' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l gpu-weight -d 'Its part of GPUs that are left over, against its siblings' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l cpu-quota -d 'CPU cores that it is owed, such as 64 or 500m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l cpu-limit -d 'CPU cores that it may use at most' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l cpu-weight -d 'Its part of CPU that is left over' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l memory-quota -d 'Memory that it is owed, such as 512Gi' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l memory-limit -d 'Memory that it may use at most' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l memory-weight -d 'Its part of memory that is left over' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l priority -d 'Queues with a higher number come first' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l display-name -d 'Name for people' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l preempt-min-runtime -d 'Run time before others of the same queue may preempt, such as 30m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l reclaim-min-runtime -d 'Run time before other queues may reclaim, such as 30m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -s y -l yes -d 'Ask nothing'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l dry-run -d 'Only show the plan'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from delete" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from delete" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from delete" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from delete" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from delete" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from delete" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from delete" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from delete" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from delete" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from delete" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from delete" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from delete" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from delete" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from delete" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from delete" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from delete" -l force -d 'Delete queues that still have work: it stays pending until its queue is back'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from delete" -s y -l yes -d 'Ask nothing'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from delete" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from delete" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from delete" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from delete" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from delete" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from delete" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from delete" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from help" -f -a "create" -d 'Create a queue'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from help" -f -a "set" -d 'Change quota, limit, weight or priority of a queue'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from help" -f -a "delete" -d 'Delete queues without children and without work'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -l node -d 'Only this node, or those of a pattern with *, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -s q -l queue -d 'Only devices that work of this queue, or of those below it, holds' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l rank -d 'Ranks, as 0,3 (the master is 0) or worker-0 or worker' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l tail -d 'Last lines of each rank only; -1 for all' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l since -d 'Lines since a time ago, such as 10m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -s c -l container -d 'Container, when it is not the one that works' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l prefix -d 'What stands before a line: rank, pod or none' -r -f -a "rank\t''
pod\t''
none\t''"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -s f -l follow -d 'Go on until the workload ends; the exit code tells how'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l timestamps -d 'Show the time of each line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l previous -d 'The container before its last restart'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l nodes -d 'Simulated nodes: COUNTxMODEL:GPUS[/MIG-PROFILE] or COUNTxcpu:CORES, comma-separated; none for none' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l rack-nodes -d 'Nodes in a rack' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l operators -d 'Stand-ins for workload operators: all, none, or names (ray, training, argo, notebook, core, scheduler)' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l attach -d 'Run only nodes and operators, against the cluster of this kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l pace -d 'Simulated seconds that pass in a second (1, with --demo 60)' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l port -d 'Port of the API server on 127.0.0.1; 0 picks a free one' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l demo -d 'Tell the product\'s story with real commands; ends with 0 when it came out as told'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l keep -d 'Leave the cluster up after --demo; leave the nodes registered after --attach'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l limits -d 'Print what the embedded API server leaves out'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -l components -d 'Only these parts, comma-separated' -r -f -a "crds\t'The definitions of the custom resources'
rbac\t'Accounts and roles of the daemons, roles for people, the namespaces that they are in, and what the API server refuses by itself'
queues\t'Priority classes, the default queues, the default shard, the configuration'
daemons\t'The Deployments'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -l image -d 'Container image of both daemons' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -l default-queue -d 'Queue to create below default-parent-queue; empty for none' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -l wait -d 'Wait until the daemons are ready' -r -f -a "true\t''
false\t''"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -l timeout -d 'Longest wait, as 90s or 5m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -l without-daemons -d 'All but the Deployments: the daemons run elsewhere'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -s y -l yes -d 'Do not ask'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -l dry-run -d 'Show what would change, and change nothing'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -l force-conflicts -d 'Take over fields that somebody else has set'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -l adopt -d 'Replace an existing KAI installation; its queues and workloads stay'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -f -a "apply" -d 'Show what would change, ask, apply, wait until it runs (the default)'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -f -a "render" -d 'Print the manifests, to be kept in git'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -f -a "status" -d 'What is there, and whether it is healthy (exit code 10 when not)'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -f -a "remove" -d 'Take the scheduler out; queues and workloads stay unless --crds'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l components -d 'Only these parts, comma-separated' -r -f -a "crds\t'The definitions of the custom resources'
rbac\t'Accounts and roles of the daemons, roles for people, the namespaces that they are in, and what the API server refuses by itself'
queues\t'Priority classes, the default queues, the default shard, the configuration'
daemons\t'The Deployments'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l image -d 'Container image of both daemons' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l default-queue -d 'Queue to create below default-parent-queue; empty for none' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l wait -d 'Wait until the daemons are ready' -r -f -a "true\t''
false\t''"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l timeout -d 'Longest wait, as 90s or 5m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l without-daemons -d 'All but the Deployments: the daemons run elsewhere'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -s y -l yes -d 'Do not ask'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l dry-run -d 'Show what would change, and change nothing'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l force-conflicts -d 'Take over fields that somebody else has set'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l adopt -d 'Replace an existing KAI installation; its queues and workloads stay'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -l components -d 'Only these parts, comma-separated' -r -f -a "crds\t'The definitions of the custom resources'
rbac\t'Accounts and roles of the daemons, roles for people, the namespaces that they are in, and what the API server refuses by itself'
queues\t'Priority classes, the default queues, the default shard, the configuration'
daemons\t'The Deployments'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -l image -d 'Container image of both daemons' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -l default-queue -d 'Queue to create below default-parent-queue; empty for none' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -l without-daemons -d 'All but the Deployments: the daemons run elsewhere'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -s y -l yes -d 'Do not ask'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -l force -d 'Also while workloads run'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -l crds -d 'Also the custom resource definitions, and with them all queues and pod groups'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from help" -f -a "apply" -d 'Show what would change, ask, apply, wait until it runs (the default)'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from help" -f -a "render" -d 'Print the manifests, to be kept in git'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from help" -f -a "status" -d 'What is there, and whether it is healthy (exit code 10 when not)'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from help" -f -a "remove" -d 'Take the scheduler out; queues and workloads stay unless --crds'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show help" -l shard -d 'The shard whose scheduler is meant' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show help" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show help" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show help" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show help" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show help" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show help" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show help" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show help" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show help" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show help" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show help" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show help" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show help" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show help" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show help" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show help" -l force -d 'Replace the file if there is one'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show help" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show help" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show help" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show help" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show help" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show help" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show help" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show help" -a "show" -d 'What a snapshot holds, and what the scheduler would do next'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show help" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from help" -f -a "show" -d 'What a snapshot holds, and what the scheduler would do next'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall help" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall help" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall help" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall help" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall help" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall help" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall help" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall help" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall help" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall help" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall help" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall help" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall help" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall help" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall help" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall help" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall help" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall help" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall help" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall help" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall help" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall help" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall help" -f -a "bash" -d 'Print the script for bash'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall help" -f -a "zsh" -d 'Print the script for zsh'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall help" -f -a "fish" -d 'Print the script for fish'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall help" -f -a "powershell" -d 'Print the script for PowerShell'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall help" -f -a "elvish" -d 'Print the script for elvish'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall help" -f -a "install" -d 'Make `kubectl kai <TAB>` work: link kubectl_complete-kai to this program'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall help" -f -a "uninstall" -d 'Remove the link'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish install uninstall help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l shim-dir -d 'Folder for the link; it has to be in PATH' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l shim-dir -d 'Folder of the link' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from help" -f -a "bash" -d 'Print the script for bash'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from help" -f -a "zsh" -d 'Print the script for zsh'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from help" -f -a "fish" -d 'Print the script for fish'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from help" -f -a "powershell" -d 'Print the script for PowerShell'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from help" -f -a "elvish" -d 'Print the script for elvish'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from help" -f -a "install" -d 'Make `kubectl kai <TAB>` work: link kubectl_complete-kai to this program'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from help" -f -a "uninstall" -d 'Remove the link'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path help" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path help" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path help" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path help" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path help" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path help" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path help" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path help" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path help" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path help" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path help" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path help" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path help" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path help" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path help" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path help" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path help" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path help" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path help" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path help" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path help" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path help" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path help" -f -a "view" -d 'Every setting that has a value'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path help" -f -a "get" -d 'One value'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path help" -f -a "set" -d 'Write a value into a file'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path help" -f -a "unset" -d 'Remove a value from a file'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path help" -f -a "path" -d 'The files that are read, the first wins'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l show-origin -d 'Say where each value was set, and what it hides'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -l scope -d 'Which file' -r -f -a "user\t''
project\t''"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l scope -d 'Which file' -r -f -a "user\t''
project\t''"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "view" -d 'Every setting that has a value'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "get" -d 'One value'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "set" -d 'Write a value into a file'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "unset" -d 'Remove a value from a file'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "path" -d 'The files that are read, the first wins'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l client -d 'Ask no server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -s o -l output -d 'table, wide, json, yaml, name or jsonpath=TEMPLATE' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and not __fish_seen_subcommand_from submit wait suspend resume delete list describe queues top logs sandbox install snapshot completion config version options help" -f -a "submit" -d 'Submit a job in any framework, or any manifest, to a queue'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and not __fish_seen_subcommand_from submit wait suspend resume delete list describe queues top logs sandbox install snapshot completion config version options help" -f -a "wait" -d 'Wait until workloads are scheduled, running or finished'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and not __fish_seen_subcommand_from submit wait suspend resume delete list describe queues top logs sandbox install snapshot completion config version options help" -f -a "suspend" -d 'Give the GPUs back but keep the workload'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and not __fish_seen_subcommand_from submit wait suspend resume delete list describe queues top logs sandbox install snapshot completion config version options help" -f -a "resume" -d 'Put suspended workloads back in the queue'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and not __fish_seen_subcommand_from submit wait suspend resume delete list describe queues top logs sandbox install snapshot completion config version options help" -f -a "delete" -d 'Delete workloads'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and not __fish_seen_subcommand_from submit wait suspend resume delete list describe queues top logs sandbox install snapshot completion config version options help" -f -a "list" -d 'Workloads with their state and the reason why they wait'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and not __fish_seen_subcommand_from submit wait suspend resume delete list describe queues top logs sandbox install snapshot completion config version options help" -f -a "describe" -d 'One workload on one screen'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and not __fish_seen_subcommand_from submit wait suspend resume delete list describe queues top logs sandbox install snapshot completion config version options help" -f -a "queues" -d 'Queue tree, quotas, use; create, set, delete'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and not __fish_seen_subcommand_from submit wait suspend resume delete list describe queues top logs sandbox install snapshot completion config version options help" -f -a "top" -d 'Every GPU, and who holds what of it'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and not __fish_seen_subcommand_from submit wait suspend resume delete list describe queues top logs sandbox install snapshot completion config version options help" -f -a "logs" -d 'Logs of all ranks, merged'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and not __fish_seen_subcommand_from submit wait suspend resume delete list describe queues top logs sandbox install snapshot completion config version options help" -f -a "sandbox" -d 'A whole cluster in this process: try it without one'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and not __fish_seen_subcommand_from submit wait suspend resume delete list describe queues top logs sandbox install snapshot completion config version options help" -f -a "install" -d 'Install, check or remove the scheduler'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and not __fish_seen_subcommand_from submit wait suspend resume delete list describe queues top logs sandbox install snapshot completion config version options help" -f -a "snapshot" -d 'What the scheduler sees of the cluster, in a file; and what it would do next'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and not __fish_seen_subcommand_from submit wait suspend resume delete list describe queues top logs sandbox install snapshot completion config version options help" -f -a "completion" -d 'Shell completion, also through `kubectl kai <TAB>`'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and not __fish_seen_subcommand_from submit wait suspend resume delete list describe queues top logs sandbox install snapshot completion config version options help" -f -a "config" -d 'Defaults, and where each value came from'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and not __fish_seen_subcommand_from submit wait suspend resume delete list describe queues top logs sandbox install snapshot completion config version options help" -f -a "version" -d 'Client and scheduler versions'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and not __fish_seen_subcommand_from submit wait suspend resume delete list describe queues top logs sandbox install snapshot completion config version options help" -f -a "options" -d 'Connection flags that every command takes'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and not __fish_seen_subcommand_from submit wait suspend resume delete list describe queues top logs sandbox install snapshot completion config version options help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and __fish_seen_subcommand_from queues" -f -a "create" -d 'Create a queue'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and __fish_seen_subcommand_from queues" -f -a "set" -d 'Change quota, limit, weight or priority of a queue'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and __fish_seen_subcommand_from queues" -f -a "delete" -d 'Delete queues without children and without work'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and __fish_seen_subcommand_from install" -f -a "apply" -d 'Show what would change, ask, apply, wait until it runs (the default)'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and __fish_seen_subcommand_from install" -f -a "render" -d 'Print the manifests, to be kept in git'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and __fish_seen_subcommand_from install" -f -a "status" -d 'What is there, and whether it is healthy (exit code 10 when not)'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and __fish_seen_subcommand_from install" -f -a "remove" -d 'Take the scheduler out; queues and workloads stay unless --crds'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and __fish_seen_subcommand_from snapshot" -f -a "show" -d 'What a snapshot holds, and what the scheduler would do next'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and __fish_seen_subcommand_from completion" -f -a "bash" -d 'Print the script for bash'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and __fish_seen_subcommand_from completion" -f -a "zsh" -d 'Print the script for zsh'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and __fish_seen_subcommand_from completion" -f -a "fish" -d 'Print the script for fish'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and __fish_seen_subcommand_from completion" -f -a "powershell" -d 'Print the script for PowerShell'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and __fish_seen_subcommand_from completion" -f -a "elvish" -d 'Print the script for elvish'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and __fish_seen_subcommand_from completion" -f -a "install" -d 'Make `kubectl kai <TAB>` work: link kubectl_complete-kai to this program'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and __fish_seen_subcommand_from completion" -f -a "uninstall" -d 'Remove the link'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "view" -d 'Every setting that has a value'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "get" -d 'One value'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "set" -d 'Write a value into a file'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "unset" -d 'Remove a value from a file'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "path" -d 'The files that are read, the first wins'
