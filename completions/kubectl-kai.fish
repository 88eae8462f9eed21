# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_kubectl_kai_global_optspecs
    string join \n n/namespace= A/all-namespaces context= kubeconfig= o/output= color= ascii quiet v/verbose cluster= user= s/server= token= as= as-group= certificate-authority= insecure-skip-tls-verify tls-server-name= request-timeout= cache-dir= h/help V/version
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
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
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
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "explain" -d 'Why it waits, who evicted it, why this share; and what a number means'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "queues" -d 'Queue tree, quotas, use; create, set, hold, move, delete'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "top" -d 'Every GPU, and who holds what of it'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "history" -d 'What ran, waited and was evicted, by whom; GPU-hours'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "usage" -d 'GPU-hours by user, queue, kind, type of GPU or day'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "logs" -d 'Logs of all ranks, merged'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "exec" -d 'Run a command or a shell in a rank'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "port-forward" -d 'Reach Jupyter, TensorBoard, the Ray dashboard'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "simulate" -d 'What if? For a job, a queue\'s quota, more nodes, a drained one; nothing is changed'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "sandbox" -d 'A whole cluster in this process: try it without one'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "install" -d 'Install, check or remove the scheduler'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "doctor" -d 'Find out what is broken, and how to repair it'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "snapshot" -d 'What the scheduler sees of the cluster, in a file; and what it would do next'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "completion" -d 'Shell completion, also through kubectl'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "config" -d 'Defaults, and where each value came from'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "version" -d 'Client and scheduler versions'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "help" -d 'The page of a command or of a topic'
complete -c kubectl-kai -n "__fish_kubectl_kai_needs_command" -f -a "options" -d 'Connection flags that every command takes'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -s f -l filename -d 'Manifests to submit, of any kind: a file, a folder, an address on the web, or - for standard input; repeatable' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l sbatch -d 'Script for Slurm: its #SBATCH lines are flags, and each pod runs it; also as submit FILE.sbatch' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l template -d 'Template instead of the kind\'s: a name (config templates list) or a file' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -s p -l param -d 'Parameter of the template, or of an Argo workflow, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l image -d 'Container image' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -s g -l gpu -d 'GPUs of each worker: 2, 0.5, 0.25x4 (a quarter of each of four), 8Gi, 8Gix2, mig:1g.10gb, H100:4; of other makers amd:2, gaudi:2, RESOURCE:2, and by DRA dra:CLASS:2' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l gpu-type -d 'Model of GPU, such as H100 or A100-SXM4-80GB' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l gpu-memory -d 'GPU memory of each worker on one shared device, such as 8Gi' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l mig -d 'MIG instance of each worker, or several: 1g.10gb, 1g.10gbx2' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l gpu-fraction-container -d 'Container that gets the share of a GPU; the first one without it' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l cpu -d 'CPU of each worker, such as 4 or 500m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l memory -d 'Memory of each worker, such as 64Gi' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l from -d 'Workload to submit again, as NAME or with the next number; other flags change it' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l port -d 'Port that the container listens on, as port-forward finds it; repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l run-as -d 'User, and group, that the containers run as (--user is the kubeconfig\'s)' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l rdma -d 'Devices for RDMA by the resource of their plugin, such as rdma/hca:1; memory may be locked then' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -s e -l env -d 'Environment variable NAME=VALUE, or NAME to forward yours, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l env-from -d 'Variables of all keys of secret/NAME or configmap/NAME, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l secret -d 'Secret: its keys as variables, or as files under PATH, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l configmap -d 'Config map: its keys as variables, or as files under PATH, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l pull-secret -d 'Secret to pull the image with, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -s m -l mount -d 'Volume: pvc://CLAIM[/DIR]:/PATH[:ro], host:///DIR:/PATH, new://100Gi[,CLASS]:/PATH (of each pod), empty://10Gi:/PATH, or a name of mounts: in the configuration; repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l shm -d 'Shared memory of each pod under /dev/shm, such as 16Gi' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l workdir -d 'Folder whose files the containers find in their working folder; .gitignore and .kaiignore are heeded' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l git -d 'Git repository that is cloned into the working folder' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l git-secret -d 'Secret for the repository: username and password, or ssh-privatekey' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l code-image -d 'Image of the container that unpacks or clones (default: the workload\'s own to unpack, alpine/git to clone)' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -s q -l queue -d 'Queue to wait in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l priority -d 'Priority class: train, build, inference, ...' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l preemptible -d 'Whether others may take its GPUs: true (also without a value) or false' -r -f -a "true\t''
false\t''"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -s w -l workers -d 'Pods that work: N, or N..M where the framework can grow and shrink' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l min -d 'How many of the workers must start together (default: all)' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l min-per-role -d 'How many pods of a role must start together, such as worker=4, repeatable: pytorch, ray, jobset, trainjob' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l max-runtime -d 'Longest run, such as 12h' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l retries -d 'Retries after a failure' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -s l -l label -d 'Label KEY=VALUE on the workload and its pods, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l annotation -d 'Annotation KEY=VALUE on the workload, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l topology -d 'Level of a topology within one domain of which all pods stay, such as rack; rack:preferred where others will do; TOPOLOGY=LEVEL where several have it' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l node-selector -d 'Label KEY=VALUE that nodes must have, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l toleration -d 'Taint of nodes that is tolerated, KEY[=VALUE][:EFFECT], repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l node-pool -d 'Node pool; the shard of the scheduler that serves it places the pods' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l service-account -d 'Service account that the pods run as' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l replicas -d 'Groups of so many workers each: jobset, lws' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l array -d 'Tasks of a job, each a pod with a number of its own: 100, 0-99, or 100%10 for ten at a time' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l schedule -d 'When a cronjob runs, such as \'0 2 * * *\'' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l time-zone -d 'Time zone of --schedule, such as Europe/Paris' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l ttl -d 'Delete it so long after its end, such as 1h' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l main-class -d 'Main class of a Spark application in a .jar' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l wait -d 'Wait until it is scheduled, running or complete (also without a value: complete)' -r -f -a "scheduled\t'All pods of the gang have a node'
running\t'All pods run'
complete\t'It has ended'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l timeout -d 'Longest wait, such as 30m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l dry-run -d 'Create nothing: none, client (asks at most which kinds are served), server (all checks of the cluster), plan (where, when, at whose cost)' -r -f -a "none\t'Create it'
client\t'Only rendered and checked here, of the kinds that the cluster serves'
server\t'Checked by the API server, not stored'
plan\t'Shown as the scheduler would place it, with alternatives'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l save-template -d 'Keep it as a template of yours, for --template, and submit nothing' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -s R -l recursive -d 'Read folders behind -f with all folders in them'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l shell -d 'Run the command as a line for sh, with its && and $VARIABLES'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l mps -d 'Share the GPU by MPS; needs a share: --gpu 0.5'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l no-gang -d 'Let each worker start alone'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l force -d 'Submit in spite of another scheduler in the manifest, a queue in which nothing can run, or nodes that are too small'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l exit-code -d 'With --dry-run=plan: end with 6 when it cannot start at once'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l replace -d 'Change what exists and differs from its manifest, or delete it and create it anew where it cannot be changed'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l watch -d 'Say each change of its state until it has ended; the exit code tells how'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l logs -d 'Print the logs of all ranks until it has ended; the exit code tells how'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -s i -l stdin -d 'Wait until it runs, and hand stdin on to its container; the exit code is the container\'s'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -s t -l tty -d 'Give its container this terminal, as -it'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l rm -d 'Delete it once it has ended'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l confirm -d 'Show what would be created, and ask before it is'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l diff -d 'Show the difference to what is there, and create nothing; the exit code is 1 where there is one'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -s y -l yes -d 'Ask nothing: with --confirm, before --replace deletes, and before --save-template replaces a template'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand submit" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -s q -l queue -d 'Workloads of a queue, and of those below it' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l status -d 'Workloads in one of these states, such as pending,running' -r -f -a "waiting\t'There are no pods yet'
pending\t'Pods wait for nodes'
starting\t'Pods have nodes and start'
running\t''
degraded\t'Some pods of a service are ready, not all'
suspended\t''
deleting\t''
succeeded\t''
failed\t''"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l kind -d 'Workloads of one kind, such as pytorch or rayjob' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -s l -l selector -d 'Workloads with these labels, such as team=vision,tier!=dev' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l field-selector -d 'Workloads whose objects have these fields, such as spec.suspend=true,metadata.name!=a' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l since -d 'Workloads made since then: 2h ago, or a time such as 2026-01-31 or 2026-01-31T12:00:00Z' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l older -l until -d 'Workloads made before then: 7d ago, or a time' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l owner -d 'Workloads of a user, by the label or annotation user (--user is the kubeconfig\'s)' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l for -d 'State to wait for: scheduled, running, complete, failed, deleted or position=N' -r -f -a "scheduled\t'All its pods have nodes'
running\t'It runs: all its pods do, or those that start together at the least'
complete\t'It has ended'
failed\t'It has ended, and badly'
deleted\t'It is gone'
position=1\t'No more than so many are tried before it, or it is past waiting'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l timeout -d 'Longest wait, such as 30m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l exec -d 'A command for sh, run for each workload once it is waited for no more' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l exit-code-from -d 'Ends with the exit code of a rank, such as worker-0, or of the one that failed first: first' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l mine -d 'My workloads: those of the user that the server takes me for'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l any -d 'Until one of them is there, instead of all'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand wait" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -s q -l queue -d 'Workloads of a queue, and of those below it' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -l status -d 'Workloads in one of these states, such as pending,running' -r -f -a "waiting\t'There are no pods yet'
pending\t'Pods wait for nodes'
starting\t'Pods have nodes and start'
running\t''
degraded\t'Some pods of a service are ready, not all'
suspended\t''
deleting\t''
succeeded\t''
failed\t''"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -l kind -d 'Workloads of one kind, such as pytorch or rayjob' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -s l -l selector -d 'Workloads with these labels, such as team=vision,tier!=dev' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -l field-selector -d 'Workloads whose objects have these fields, such as spec.suspend=true,metadata.name!=a' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -l since -d 'Workloads made since then: 2h ago, or a time such as 2026-01-31 or 2026-01-31T12:00:00Z' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -l older -l until -d 'Workloads made before then: 7d ago, or a time' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -l owner -d 'Workloads of a user, by the label or annotation user (--user is the kubeconfig\'s)' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -l mine -d 'My workloads: those of the user that the server takes me for'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -s y -l yes -d 'Ask nothing'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -l dry-run -d 'Only let the server check it'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand suspend" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -s q -l queue -d 'Workloads of a queue, and of those below it' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -l status -d 'Workloads in one of these states, such as pending,running' -r -f -a "waiting\t'There are no pods yet'
pending\t'Pods wait for nodes'
starting\t'Pods have nodes and start'
running\t''
degraded\t'Some pods of a service are ready, not all'
suspended\t''
deleting\t''
succeeded\t''
failed\t''"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -l kind -d 'Workloads of one kind, such as pytorch or rayjob' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -s l -l selector -d 'Workloads with these labels, such as team=vision,tier!=dev' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -l field-selector -d 'Workloads whose objects have these fields, such as spec.suspend=true,metadata.name!=a' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -l since -d 'Workloads made since then: 2h ago, or a time such as 2026-01-31 or 2026-01-31T12:00:00Z' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -l older -l until -d 'Workloads made before then: 7d ago, or a time' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -l owner -d 'Workloads of a user, by the label or annotation user (--user is the kubeconfig\'s)' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -l mine -d 'My workloads: those of the user that the server takes me for'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -s y -l yes -d 'Ask nothing'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -l dry-run -d 'Only let the server check it'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand resume" -s A -l all-namespaces -d 'All namespaces'
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -l field-selector -d 'Workloads whose objects have these fields, such as spec.suspend=true,metadata.name!=a' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -l since -d 'Workloads made since then: 2h ago, or a time such as 2026-01-31 or 2026-01-31T12:00:00Z' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -l older -l until -d 'Workloads made before then: 7d ago, or a time' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -l owner -d 'Workloads of a user, by the label or annotation user (--user is the kubeconfig\'s)' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -l mine -d 'My workloads: those of the user that the server takes me for'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -s y -l yes -d 'Ask nothing'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -l dry-run -d 'Only say what would be deleted'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand delete" -s A -l all-namespaces -d 'All namespaces'
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l field-selector -d 'Workloads whose objects have these fields, such as spec.suspend=true,metadata.name!=a' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l since -d 'Workloads made since then: 2h ago, or a time such as 2026-01-31 or 2026-01-31T12:00:00Z' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l older -l until -d 'Workloads made before then: 7d ago, or a time' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l owner -d 'Workloads of a user, by the label or annotation user (--user is the kubeconfig\'s)' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l group-by -d 'A line for each queue, user or kind instead of each workload' -r -f -a "queue\t'Their queue'
user\t'Who submitted them'
kind\t'Their kind'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l jq -d 'Print what a jq expression makes of the JSON, texts without quotes' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l sort-by -d 'Sort by a column, or by a field of the JSON such as .created; with - in front, downwards' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l limit -d 'Print the first ones only' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l mine -d 'My workloads: those of the user that the server takes me for'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l pods -d 'A line for each pod instead of each workload'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l eta -d 'When what waits will start, as a range; reads the whole cluster'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l show-labels -d 'Add a column with the labels'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -s w -l watch -d 'Go on, and print what changes below'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l live -d 'Go on, and draw the whole anew in place; needs a terminal'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -l events -d 'How many events to show' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -l jq -d 'Print what a jq expression makes of the JSON, texts without quotes' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -s w -l watch -d 'Go on, and print what changes below'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -l live -d 'Go on, and draw the whole anew in place; needs a terminal'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand describe" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand explain" -l jq -d 'Print what a jq expression makes of the JSON, texts without quotes' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand explain" -l sort-by -d 'Sort by a column, or by a field of the JSON such as .created; with - in front, downwards' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand explain" -l limit -d 'Print the first ones only' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand explain" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand explain" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand explain" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand explain" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand explain" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand explain" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand explain" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand explain" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand explain" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand explain" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand explain" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand explain" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand explain" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand explain" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand explain" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand explain" -l order -d 'Show in which order queues and their workloads have their turns'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand explain" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand explain" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand explain" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand explain" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand explain" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand explain" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand explain" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -l jq -d 'Print what a jq expression makes of the JSON, texts without quotes' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -l sort-by -d 'Sort by a column, or by a field of the JSON such as .created; with - in front, downwards' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -l limit -d 'Print the first ones only' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -l flat -d 'A flat list with all amounts, no tree'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -l show-labels -d 'Add a column with the labels'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -s w -l watch -d 'Go on, and print what changes below'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -l live -d 'Go on, and draw the whole anew in place; needs a terminal'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -a "create" -d 'Create a queue'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -a "set" -d 'Change quota, limit, weight or priority of a queue'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -a "delete" -d 'Delete queues without children and without work'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -a "hold" -d 'Let nothing new start in queues; what runs goes on'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -a "release" -d 'Let held queues go on'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and not __fish_seen_subcommand_from create set delete hold release move" -a "move" -d 'Put a queue below another one'
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from create" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l dry-run -d 'Only show the plan (client), or let the server check it too (server)' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from set" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from delete" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from delete" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from delete" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from delete" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from delete" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from delete" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from delete" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from delete" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from delete" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from hold" -l dry-run -d 'Only show the plan (client), or let the server check it too (server)' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from hold" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from hold" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from hold" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from hold" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from hold" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from hold" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from hold" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from hold" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from hold" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from hold" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from hold" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from hold" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from hold" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from hold" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from hold" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from hold" -s y -l yes -d 'Ask nothing'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from hold" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from hold" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from hold" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from hold" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from hold" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from hold" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from release" -l dry-run -d 'Only show the plan (client), or let the server check it too (server)' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from release" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from release" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from release" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from release" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from release" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from release" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from release" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from release" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from release" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from release" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from release" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from release" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from release" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from release" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from release" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from release" -s y -l yes -d 'Ask nothing'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from release" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from release" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from release" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from release" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from release" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from release" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from move" -l parent -d 'Queue that it goes below' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from move" -l dry-run -d 'Only show the plan (client), or let the server check it too (server)' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from move" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from move" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from move" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from move" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from move" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from move" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from move" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from move" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from move" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from move" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from move" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from move" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from move" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from move" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from move" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from move" -s y -l yes -d 'Ask nothing'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from move" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from move" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from move" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from move" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from move" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand queues; and __fish_seen_subcommand_from move" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -l node -d 'Only this node, or those of a pattern with *, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -s q -l queue -d 'Only devices that work of this queue, or of those below it, holds' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -l jq -d 'Print what a jq expression makes of the JSON, texts without quotes' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -l sort-by -d 'Sort by a column, or by a field of the JSON such as .created; with - in front, downwards' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -l limit -d 'Print the first ones only' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -s i -l interactive -d 'Draw nodes, queues and what waits on the whole terminal, and follow; ? lists the keys'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -l show-labels -d 'Add a column with the labels'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -s w -l watch -d 'Go on, and print what changes below'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -l live -d 'Go on, and draw the whole anew in place; needs a terminal'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand top" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and not __fish_seen_subcommand_from usage evictions" -l since -d 'From this day on: a date such as 2026-11-01, or how long ago; none for all' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and not __fish_seen_subcommand_from usage evictions" -l until -d 'Before this day, or up to so long ago; now unless given' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and not __fish_seen_subcommand_from usage evictions" -s q -l queue -d 'Only work of this queue, and of those below it' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and not __fish_seen_subcommand_from usage evictions" -l owner -d 'Only work of this user, or of a pattern with *' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and not __fish_seen_subcommand_from usage evictions" -l kind -d 'Only workloads of one kind, such as pytorch or rayjob' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and not __fish_seen_subcommand_from usage evictions" -l jq -d 'Print what a jq expression makes of the JSON, texts without quotes' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and not __fish_seen_subcommand_from usage evictions" -l sort-by -d 'Sort by a column, or by a field of the JSON such as .created; with - in front, downwards' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and not __fish_seen_subcommand_from usage evictions" -l limit -d 'Print the first ones only' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and not __fish_seen_subcommand_from usage evictions" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and not __fish_seen_subcommand_from usage evictions" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and not __fish_seen_subcommand_from usage evictions" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and not __fish_seen_subcommand_from usage evictions" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and not __fish_seen_subcommand_from usage evictions" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and not __fish_seen_subcommand_from usage evictions" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and not __fish_seen_subcommand_from usage evictions" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and not __fish_seen_subcommand_from usage evictions" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and not __fish_seen_subcommand_from usage evictions" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and not __fish_seen_subcommand_from usage evictions" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and not __fish_seen_subcommand_from usage evictions" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and not __fish_seen_subcommand_from usage evictions" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and not __fish_seen_subcommand_from usage evictions" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and not __fish_seen_subcommand_from usage evictions" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and not __fish_seen_subcommand_from usage evictions" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and not __fish_seen_subcommand_from usage evictions" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and not __fish_seen_subcommand_from usage evictions" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and not __fish_seen_subcommand_from usage evictions" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and not __fish_seen_subcommand_from usage evictions" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and not __fish_seen_subcommand_from usage evictions" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and not __fish_seen_subcommand_from usage evictions" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and not __fish_seen_subcommand_from usage evictions" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and not __fish_seen_subcommand_from usage evictions" -a "usage" -d 'GPU-hours by user, queue, kind, type of GPU or day'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and not __fish_seen_subcommand_from usage evictions" -a "evictions" -d 'Who evicted whom, and what it cost'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from usage" -l by -d 'A line for each of these together: user, queue, kind, gpu-type, day, namespace, workload' -r -f -a "user\t''
queue\t''
kind\t''
gpu-type\t''
day\t''
namespace\t''
workload\t''"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from usage" -l price -d 'Price of a GPU-hour, for all or by type of GPU: gpu=2.5,NVIDIA-H100*=4' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from usage" -l since -d 'From this day on: a date such as 2026-11-01, or how long ago; none for all' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from usage" -l until -d 'Before this day, or up to so long ago; now unless given' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from usage" -s q -l queue -d 'Only work of this queue, and of those below it' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from usage" -l owner -d 'Only work of this user, or of a pattern with *' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from usage" -l kind -d 'Only workloads of one kind, such as pytorch or rayjob' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from usage" -l jq -d 'Print what a jq expression makes of the JSON, texts without quotes' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from usage" -l sort-by -d 'Sort by a column, or by a field of the JSON such as .created; with - in front, downwards' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from usage" -l limit -d 'Print the first ones only' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from usage" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from usage" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from usage" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from usage" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from usage" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from usage" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from usage" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from usage" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from usage" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from usage" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from usage" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from usage" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from usage" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from usage" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from usage" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from usage" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from usage" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from usage" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from usage" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from usage" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from usage" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from usage" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from evictions" -l since -d 'From this day on: a date such as 2026-11-01, or how long ago; none for all' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from evictions" -l until -d 'Before this day, or up to so long ago; now unless given' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from evictions" -s q -l queue -d 'Only work of this queue, and of those below it' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from evictions" -l owner -d 'Only work of this user, or of a pattern with *' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from evictions" -l kind -d 'Only workloads of one kind, such as pytorch or rayjob' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from evictions" -l jq -d 'Print what a jq expression makes of the JSON, texts without quotes' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from evictions" -l sort-by -d 'Sort by a column, or by a field of the JSON such as .created; with - in front, downwards' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from evictions" -l limit -d 'Print the first ones only' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from evictions" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from evictions" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from evictions" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from evictions" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from evictions" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from evictions" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from evictions" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from evictions" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from evictions" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from evictions" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from evictions" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from evictions" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from evictions" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from evictions" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from evictions" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from evictions" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from evictions" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from evictions" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from evictions" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from evictions" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from evictions" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand history; and __fish_seen_subcommand_from evictions" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand usage" -l by -d 'A line for each of these together: user, queue, kind, gpu-type, day, namespace, workload' -r -f -a "user\t''
queue\t''
kind\t''
gpu-type\t''
day\t''
namespace\t''
workload\t''"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand usage" -l price -d 'Price of a GPU-hour, for all or by type of GPU: gpu=2.5,NVIDIA-H100*=4' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand usage" -l since -d 'From this day on: a date such as 2026-11-01, or how long ago; none for all' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand usage" -l until -d 'Before this day, or up to so long ago; now unless given' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand usage" -s q -l queue -d 'Only work of this queue, and of those below it' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand usage" -l owner -d 'Only work of this user, or of a pattern with *' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand usage" -l kind -d 'Only workloads of one kind, such as pytorch or rayjob' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand usage" -l jq -d 'Print what a jq expression makes of the JSON, texts without quotes' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand usage" -l sort-by -d 'Sort by a column, or by a field of the JSON such as .created; with - in front, downwards' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand usage" -l limit -d 'Print the first ones only' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand usage" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand usage" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand usage" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand usage" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand usage" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand usage" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand usage" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand usage" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand usage" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand usage" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand usage" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand usage" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand usage" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand usage" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand usage" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand usage" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand usage" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand usage" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand usage" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand usage" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand usage" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand usage" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l rank -d 'Ranks, as 0,3 (the master is 0) or worker-0 or worker' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l tail -d 'Last lines of each rank only; -1 for all' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l grep -d 'Only lines that a regular expression matches; any of several' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l exclude -d 'No lines that a regular expression matches' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l max-streams -d 'Logs that are read at one time; more take turns' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l since -d 'Lines since a time ago, such as 10m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -s c -l container -d 'Container, when it is not the one that works' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l prefix -d 'What stands before a line: rank, pod or none' -r -f -a "rank\t''
pod\t''
none\t''"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l errors -d 'The rank that failed first, with the last lines that it wrote'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l timestamps -d 'Show the time of each line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l previous -d 'The container before its last restart'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand logs" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand exec" -l rank -d 'Rank, as 0 (the master is 0) or worker-3; without it the first' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand exec" -s c -l container -d 'Container, when it is not the one that works' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand exec" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand exec" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand exec" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand exec" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand exec" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand exec" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand exec" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand exec" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand exec" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand exec" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand exec" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand exec" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand exec" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand exec" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand exec" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand exec" -l all-ranks -d 'Run the command in every rank, and print their lines with the rank before each'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand exec" -s i -l stdin -d 'Hand stdin on to the command'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand exec" -s t -l tty -d 'Give the command a terminal'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand exec" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand exec" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand exec" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand exec" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand exec" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand exec" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand port-forward" -l rank -d 'Rank, as 0 (the master is 0) or worker-3; without it the first' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand port-forward" -l address -d 'Address of this machine to listen on' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand port-forward" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand port-forward" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand port-forward" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand port-forward" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand port-forward" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand port-forward" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand port-forward" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand port-forward" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand port-forward" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand port-forward" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand port-forward" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand port-forward" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand port-forward" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand port-forward" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand port-forward" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand port-forward" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand port-forward" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand port-forward" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand port-forward" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand port-forward" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand port-forward" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l add-node -d 'Nodes that come, as sandbox --nodes has them: 2xH100:8; repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l drain -d 'A node that is drained, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l set -d 'QUEUE.gpu.quota=12, QUEUE.gpu.limit=-1, QUEUE.priority=200, workload/NAME.priority=build; repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l delete -d 'A workload that is deleted, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l gpu-quota -d 'GPU quota of the queue that --queue names' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l gpu-limit -d 'GPU limit of the queue that --queue names; -1 is none' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l gpu-weight -d 'Weight for GPUs over quota of the queue that --queue names' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l snapshot -d 'A snapshot instead of the cluster' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l scenario -d 'A scenario file instead of the cluster' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l save -d 'Keep what was read of the cluster in a snapshot' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l shard -d 'The shard whose scheduler is meant' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l horizon -d 'How far to look for starts, such as 24h; 0 does not look' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l jq -d 'Print what a jq expression makes of the JSON, texts without quotes' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l sort-by -d 'Sort by a column, or by a field of the JSON such as .created; with - in front, downwards' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l limit -d 'Print the first ones only' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -s f -l filename -d 'Manifests to submit, of any kind: a file, a folder, an address on the web, or - for standard input; repeatable' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l sbatch -d 'Script for Slurm: its #SBATCH lines are flags, and each pod runs it; also as submit FILE.sbatch' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l template -d 'Template instead of the kind\'s: a name (config templates list) or a file' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -s p -l param -d 'Parameter of the template, or of an Argo workflow, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l image -d 'Container image' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -s g -l gpu -d 'GPUs of each worker: 2, 0.5, 0.25x4 (a quarter of each of four), 8Gi, 8Gix2, mig:1g.10gb, H100:4; of other makers amd:2, gaudi:2, RESOURCE:2, and by DRA dra:CLASS:2' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l gpu-type -d 'Model of GPU, such as H100 or A100-SXM4-80GB' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l gpu-memory -d 'GPU memory of each worker on one shared device, such as 8Gi' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l mig -d 'MIG instance of each worker, or several: 1g.10gb, 1g.10gbx2' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l gpu-fraction-container -d 'Container that gets the share of a GPU; the first one without it' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l cpu -d 'CPU of each worker, such as 4 or 500m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l memory -d 'Memory of each worker, such as 64Gi' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l from -d 'Workload to submit again, as NAME or with the next number; other flags change it' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l port -d 'Port that the container listens on, as port-forward finds it; repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l run-as -d 'User, and group, that the containers run as (--user is the kubeconfig\'s)' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l rdma -d 'Devices for RDMA by the resource of their plugin, such as rdma/hca:1; memory may be locked then' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -s e -l env -d 'Environment variable NAME=VALUE, or NAME to forward yours, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l env-from -d 'Variables of all keys of secret/NAME or configmap/NAME, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l secret -d 'Secret: its keys as variables, or as files under PATH, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l configmap -d 'Config map: its keys as variables, or as files under PATH, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l pull-secret -d 'Secret to pull the image with, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -s m -l mount -d 'Volume: pvc://CLAIM[/DIR]:/PATH[:ro], host:///DIR:/PATH, new://100Gi[,CLASS]:/PATH (of each pod), empty://10Gi:/PATH, or a name of mounts: in the configuration; repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l shm -d 'Shared memory of each pod under /dev/shm, such as 16Gi' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l workdir -d 'Folder whose files the containers find in their working folder; .gitignore and .kaiignore are heeded' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l git -d 'Git repository that is cloned into the working folder' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l git-secret -d 'Secret for the repository: username and password, or ssh-privatekey' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l code-image -d 'Image of the container that unpacks or clones (default: the workload\'s own to unpack, alpine/git to clone)' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -s q -l queue -d 'Queue to wait in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l priority -d 'Priority class: train, build, inference, ...' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l preemptible -d 'Whether others may take its GPUs: true (also without a value) or false' -r -f -a "true\t''
false\t''"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -s w -l workers -d 'Pods that work: N, or N..M where the framework can grow and shrink' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l min -d 'How many of the workers must start together (default: all)' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l min-per-role -d 'How many pods of a role must start together, such as worker=4, repeatable: pytorch, ray, jobset, trainjob' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l max-runtime -d 'Longest run, such as 12h' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l retries -d 'Retries after a failure' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -s l -l label -d 'Label KEY=VALUE on the workload and its pods, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l annotation -d 'Annotation KEY=VALUE on the workload, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l topology -d 'Level of a topology within one domain of which all pods stay, such as rack; rack:preferred where others will do; TOPOLOGY=LEVEL where several have it' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l node-selector -d 'Label KEY=VALUE that nodes must have, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l toleration -d 'Taint of nodes that is tolerated, KEY[=VALUE][:EFFECT], repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l node-pool -d 'Node pool; the shard of the scheduler that serves it places the pods' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l service-account -d 'Service account that the pods run as' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l replicas -d 'Groups of so many workers each: jobset, lws' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l array -d 'Tasks of a job, each a pod with a number of its own: 100, 0-99, or 100%10 for ten at a time' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l schedule -d 'When a cronjob runs, such as \'0 2 * * *\'' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l time-zone -d 'Time zone of --schedule, such as Europe/Paris' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l ttl -d 'Delete it so long after its end, such as 1h' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l main-class -d 'Main class of a Spark application in a .jar' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l exit-code -d 'End with 6 when the work cannot start at once'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -s R -l recursive -d 'Read folders behind -f with all folders in them'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l shell -d 'Run the command as a line for sh, with its && and $VARIABLES'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l mps -d 'Share the GPU by MPS; needs a share: --gpu 0.5'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l no-gang -d 'Let each worker start alone'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l force -d 'Submit in spite of another scheduler in the manifest, a queue in which nothing can run, or nodes that are too small'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand simulate" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l nodes -d 'Simulated nodes: COUNTxMODEL:GPUS[/MIG-PROFILE] or COUNTxcpu:CORES, comma-separated; none for none' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l rack-nodes -d 'Nodes in a rack' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l operators -d 'Stand-ins for workload operators: all, none, or names (core, ray, training, argo, notebook, jobset, lws, spark, trainer, scheduler, storage, dra)' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l attach -d 'Run only nodes and operators, against the cluster of this kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l pace -d 'Simulated seconds that pass in a second (1, with --demo 60)' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l port -d 'Port of the API server on 127.0.0.1; 0 picks a free one' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand sandbox" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -l components -d 'Only these parts, comma-separated' -r -f -a "crds\t'The definitions of the custom resources'
rbac\t'Accounts and roles of the daemons, roles for people, the namespaces that they are in, and what the API server refuses by itself'
queues\t'Priority classes, the default queues, the default shard, the configuration'
daemons\t'The Deployments'
monitoring\t'Monitors and alerts for Prometheus\' operator, dashboards for Grafana; no part of a whole installation'
flow-control\t'A priority level of the API server for the daemons alone; no part of a whole installation'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -l image -d 'Container image of both daemons; what runs keeps its own, else it is the published one' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -l default-queue -d 'Queue to create below default-parent-queue; empty for none' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -l wait -d 'Wait until the daemons are ready' -r -f -a "true\t''
false\t''"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -l timeout -d 'Longest wait, as 90s or 5m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -l image-archive -d 'Push the image in this archive to --registry, and install that one' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -l registry -d 'Registry and repository that the cluster\'s nodes pull from; http:// in front means without TLS' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -l without-daemons -d 'All but the Deployments: the daemons run elsewhere'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -l monitoring -d 'Also what Prometheus\' operator scrapes and alerts on, and dashboards for Grafana'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -l flow-control -d 'Also seats of the API server for the daemons alone, which are taken from those of others'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -s y -l yes -d 'Do not ask'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -l dry-run -d 'Show what would change, and change nothing'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -l force-conflicts -d 'Take over fields that somebody else has set'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -l adopt -d 'Replace an existing KAI installation; its queues and workloads stay'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -f -a "apply" -d 'Show what would change, ask, apply, wait until it runs (the default)'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -f -a "render" -d 'Print the manifests, to be kept in git'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -f -a "status" -d 'What is there, and whether it is healthy (exit code 10 when not)'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -f -a "remove" -d 'Take the scheduler out; queues and workloads stay unless --crds'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and not __fish_seen_subcommand_from apply render status remove release" -f -a "release" -d 'Give back to KAI what --adopt took over; queues, workloads and reservations stay'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l components -d 'Only these parts, comma-separated' -r -f -a "crds\t'The definitions of the custom resources'
rbac\t'Accounts and roles of the daemons, roles for people, the namespaces that they are in, and what the API server refuses by itself'
queues\t'Priority classes, the default queues, the default shard, the configuration'
daemons\t'The Deployments'
monitoring\t'Monitors and alerts for Prometheus\' operator, dashboards for Grafana; no part of a whole installation'
flow-control\t'A priority level of the API server for the daemons alone; no part of a whole installation'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l image -d 'Container image of both daemons; what runs keeps its own, else it is the published one' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l default-queue -d 'Queue to create below default-parent-queue; empty for none' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l wait -d 'Wait until the daemons are ready' -r -f -a "true\t''
false\t''"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l timeout -d 'Longest wait, as 90s or 5m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l image-archive -d 'Push the image in this archive to --registry, and install that one' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l registry -d 'Registry and repository that the cluster\'s nodes pull from; http:// in front means without TLS' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l monitoring -d 'Also what Prometheus\' operator scrapes and alerts on, and dashboards for Grafana'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l flow-control -d 'Also seats of the API server for the daemons alone, which are taken from those of others'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -s y -l yes -d 'Do not ask'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l dry-run -d 'Show what would change, and change nothing'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l force-conflicts -d 'Take over fields that somebody else has set'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l adopt -d 'Replace an existing KAI installation; its queues and workloads stay'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from apply" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -l components -d 'Only these parts, comma-separated' -r -f -a "crds\t'The definitions of the custom resources'
rbac\t'Accounts and roles of the daemons, roles for people, the namespaces that they are in, and what the API server refuses by itself'
queues\t'Priority classes, the default queues, the default shard, the configuration'
daemons\t'The Deployments'
monitoring\t'Monitors and alerts for Prometheus\' operator, dashboards for Grafana; no part of a whole installation'
flow-control\t'A priority level of the API server for the daemons alone; no part of a whole installation'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -l image -d 'Container image of both daemons; what runs keeps its own, else it is the published one' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -l default-queue -d 'Queue to create below default-parent-queue; empty for none' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -l monitoring -d 'Also what Prometheus\' operator scrapes and alerts on, and dashboards for Grafana'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -l flow-control -d 'Also seats of the API server for the daemons alone, which are taken from those of others'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from render" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -l jq -d 'Print what a jq expression makes of the JSON, texts without quotes' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -l sort-by -d 'Sort by a column, or by a field of the JSON such as .created; with - in front, downwards' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -l limit -d 'Print the first ones only' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -l dry-run -d 'Show what would go and what stays, and change nothing'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -l force -d 'Also while workloads run; what they use stays'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -l in-use -d 'Also priority classes that pods and pod groups name, and namespaces with objects of others in them'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -l keep-crds -d 'Leave the custom resource definitions, and with them queues and pod groups (the default)'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -l crds -d 'Also the custom resource definitions, and with them all queues and pod groups'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from release" -l wait -d 'Wait until KAI\'s Deployments are ready' -r -f -a "true\t''
false\t''"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from release" -l timeout -d 'Longest wait, as 90s or 5m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from release" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from release" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from release" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from release" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from release" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from release" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from release" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from release" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from release" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from release" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from release" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from release" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from release" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from release" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from release" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from release" -s y -l yes -d 'Do not ask'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from release" -l dry-run -d 'Show what would go and what would come back, and change nothing'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from release" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from release" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from release" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from release" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from release" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand install; and __fish_seen_subcommand_from release" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand doctor" -l bundle -d 'Write what a report of a fault needs into a new file, gzipped JSON without environment and arguments' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand doctor" -l jq -d 'Print what a jq expression makes of the JSON, texts without quotes' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand doctor" -l sort-by -d 'Sort by a column, or by a field of the JSON such as .created; with - in front, downwards' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand doctor" -l limit -d 'Print the first ones only' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand doctor" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand doctor" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand doctor" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand doctor" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand doctor" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand doctor" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand doctor" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand doctor" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand doctor" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand doctor" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand doctor" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand doctor" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand doctor" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand doctor" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand doctor" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand doctor" -l redact -d 'In the bundle, put stand-ins for names, and leave annotations and messages out'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand doctor" -l all -d 'Show the checks that found nothing, too'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand doctor" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand doctor" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand doctor" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand doctor" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand doctor" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand doctor" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand doctor" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show" -l shard -d 'The shard whose scheduler is meant' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show" -l force -d 'Replace the file if there is one'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and not __fish_seen_subcommand_from show" -a "show" -d 'What a snapshot holds, and what the scheduler would do next'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l jq -d 'Print what a jq expression makes of the JSON, texts without quotes' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l sort-by -d 'Sort by a column, or by a field of the JSON such as .created; with - in front, downwards' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l limit -d 'Print the first ones only' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l no-headers -d 'Print no header line'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand snapshot; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish nushell install uninstall" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish nushell install uninstall" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish nushell install uninstall" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish nushell install uninstall" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish nushell install uninstall" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish nushell install uninstall" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish nushell install uninstall" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish nushell install uninstall" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish nushell install uninstall" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish nushell install uninstall" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish nushell install uninstall" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish nushell install uninstall" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish nushell install uninstall" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish nushell install uninstall" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish nushell install uninstall" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish nushell install uninstall" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish nushell install uninstall" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish nushell install uninstall" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish nushell install uninstall" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish nushell install uninstall" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish nushell install uninstall" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish nushell install uninstall" -f -a "bash" -d 'Print the script for bash'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish nushell install uninstall" -f -a "zsh" -d 'Print the script for zsh'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish nushell install uninstall" -f -a "fish" -d 'Print the script for fish'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish nushell install uninstall" -f -a "powershell" -d 'Print the script for PowerShell'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish nushell install uninstall" -f -a "elvish" -d 'Print the script for elvish'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish nushell install uninstall" -f -a "nushell" -d 'Print the script for nushell'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish nushell install uninstall" -f -a "install" -d 'Make the TAB key work behind kubectl kai: link kubectl_complete-kai to this program'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and not __fish_seen_subcommand_from bash zsh fish powershell elvish nushell install uninstall" -f -a "uninstall" -d 'Remove the link'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from bash" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from zsh" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from fish" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from powershell" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from elvish" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from nushell" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from nushell" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from nushell" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from nushell" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from nushell" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from nushell" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from nushell" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from nushell" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from nushell" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from nushell" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from nushell" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from nushell" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from nushell" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from nushell" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from nushell" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from nushell" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from nushell" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from nushell" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from nushell" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from nushell" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from nushell" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l shim-dir -d 'Folder for the link; it has to be in PATH' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from install" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l shim-dir -d 'Folder of the link' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand completion; and __fish_seen_subcommand_from uninstall" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path templates" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path templates" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path templates" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path templates" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path templates" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path templates" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path templates" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path templates" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path templates" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path templates" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path templates" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path templates" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path templates" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path templates" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path templates" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path templates" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path templates" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path templates" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path templates" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path templates" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path templates" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path templates" -f -a "view" -d 'Every setting that has a value'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path templates" -f -a "get" -d 'One value'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path templates" -f -a "set" -d 'Write a value into a file'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path templates" -f -a "unset" -d 'Remove a value from a file'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path templates" -f -a "path" -d 'The files that are read, the first wins'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and not __fish_seen_subcommand_from view get set unset path templates" -f -a "templates" -d 'Templates of submit: list, show, save, delete'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l jq -d 'Print what a jq expression makes of the JSON, texts without quotes' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from view" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from get" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from set" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from unset" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from path" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from templates" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from templates" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from templates" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from templates" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from templates" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from templates" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from templates" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from templates" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from templates" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from templates" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from templates" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from templates" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from templates" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from templates" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from templates" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from templates" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from templates" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from templates" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from templates" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from templates" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from templates" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from templates" -f -a "list" -d 'Every template with its parameters'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from templates" -f -a "show" -d 'The text of one'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from templates" -f -a "save" -d 'Keep a file as a template'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand config; and __fish_seen_subcommand_from templates" -f -a "delete" -d 'Delete a template that was kept'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l jq -d 'Print what a jq expression makes of the JSON, texts without quotes' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand version" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help" -l color -d 'When to colour: auto, always, never' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Also on a pipe'
never\t'Never'"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help" -l cluster -d 'Kubeconfig cluster' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help" -l user -d 'Kubeconfig user' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help" -s s -l server -d 'Address of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help" -l token -d 'Bearer token' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help" -l as -d 'User to impersonate' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help" -l as-group -d 'Group to impersonate, repeatable' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help" -l tls-server-name -d 'Name expected in the certificate of the API server' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help" -l request-timeout -d 'Longest wait for one request, as 5s or 1m' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help" -l cache-dir -d 'Folder for the completion cache' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand help" -s h -l help -d 'Print help'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -s n -l namespace -d 'Namespace to work in' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l context -d 'Kubeconfig context' -r -f
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l kubeconfig -d 'Kubeconfig file' -r -F
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -s o -l output -d 'table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC' -r -f
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
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l ascii -d 'Draw bars and trees with ASCII characters only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l quiet -d 'Print data and errors only'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -s v -l verbose -d 'Log each request on stderr; twice, also what libraries do'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -l insecure-skip-tls-verify -d 'Do not check the certificate of the API server'
complete -c kubectl-kai -n "__fish_kubectl_kai_using_subcommand options" -s h -l help -d 'Print help'
