
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'kubectl-kai' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'kubectl-kai'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'kubectl-kai' {
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('submit', 'submit', [CompletionResultType]::ParameterValue, 'Submit a job in any framework, or any manifest, to a queue')
            [CompletionResult]::new('wait', 'wait', [CompletionResultType]::ParameterValue, 'Wait until workloads are scheduled, running or finished')
            [CompletionResult]::new('suspend', 'suspend', [CompletionResultType]::ParameterValue, 'Give the GPUs back but keep the workload')
            [CompletionResult]::new('resume', 'resume', [CompletionResultType]::ParameterValue, 'Put suspended workloads back in the queue')
            [CompletionResult]::new('delete', 'delete', [CompletionResultType]::ParameterValue, 'Delete workloads')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Workloads with their state and the reason why they wait')
            [CompletionResult]::new('describe', 'describe', [CompletionResultType]::ParameterValue, 'One workload on one screen')
            [CompletionResult]::new('queues', 'queues', [CompletionResultType]::ParameterValue, 'Queue tree, quotas, use; create, set, delete')
            [CompletionResult]::new('top', 'top', [CompletionResultType]::ParameterValue, 'Every GPU, and who holds what of it')
            [CompletionResult]::new('logs', 'logs', [CompletionResultType]::ParameterValue, 'Logs of all ranks, merged')
            [CompletionResult]::new('sandbox', 'sandbox', [CompletionResultType]::ParameterValue, 'A whole cluster in this process: try it without one')
            [CompletionResult]::new('install', 'install', [CompletionResultType]::ParameterValue, 'Install, check or remove the scheduler')
            [CompletionResult]::new('snapshot', 'snapshot', [CompletionResultType]::ParameterValue, 'What the scheduler sees of the cluster, in a file; and what it would do next')
            [CompletionResult]::new('completion', 'completion', [CompletionResultType]::ParameterValue, 'Shell completion, also through `kubectl kai <TAB>`')
            [CompletionResult]::new('config', 'config', [CompletionResultType]::ParameterValue, 'Defaults, and where each value came from')
            [CompletionResult]::new('version', 'version', [CompletionResultType]::ParameterValue, 'Client and scheduler versions')
            [CompletionResult]::new('options', 'options', [CompletionResultType]::ParameterValue, 'Connection flags that every command takes')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'kubectl-kai;submit' {
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Manifest to submit, of any kind; - is standard input, repeatable')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'Manifest to submit, of any kind; - is standard input, repeatable')
            [CompletionResult]::new('--template', '--template', [CompletionResultType]::ParameterName, 'Template of your own instead of the kind''s')
            [CompletionResult]::new('--image', '--image', [CompletionResultType]::ParameterName, 'Container image')
            [CompletionResult]::new('-g', '-g', [CompletionResultType]::ParameterName, 'GPUs of each worker: 2, 0.5, 0.25x4 (a quarter of each of four), 8Gi, 8Gix2, mig:1g.10gb, H100:4')
            [CompletionResult]::new('--gpu', '--gpu', [CompletionResultType]::ParameterName, 'GPUs of each worker: 2, 0.5, 0.25x4 (a quarter of each of four), 8Gi, 8Gix2, mig:1g.10gb, H100:4')
            [CompletionResult]::new('--gpu-type', '--gpu-type', [CompletionResultType]::ParameterName, 'Model of GPU, such as H100 or A100-SXM4-80GB')
            [CompletionResult]::new('--gpu-memory', '--gpu-memory', [CompletionResultType]::ParameterName, 'GPU memory of each worker on one shared device, such as 8Gi')
            [CompletionResult]::new('--gpu-fraction-container', '--gpu-fraction-container', [CompletionResultType]::ParameterName, 'Container that gets the share of a GPU; the first one without it')
            [CompletionResult]::new('--cpu', '--cpu', [CompletionResultType]::ParameterName, 'CPU of each worker, such as 4 or 500m')
            [CompletionResult]::new('--memory', '--memory', [CompletionResultType]::ParameterName, 'Memory of each worker, such as 64Gi')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Environment variable NAME=VALUE, repeatable')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Environment variable NAME=VALUE, repeatable')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Queue to wait in')
            [CompletionResult]::new('--queue', '--queue', [CompletionResultType]::ParameterName, 'Queue to wait in')
            [CompletionResult]::new('--priority', '--priority', [CompletionResultType]::ParameterName, 'Priority class: train, build, inference, ...')
            [CompletionResult]::new('--preemptible', '--preemptible', [CompletionResultType]::ParameterName, 'Whether others may take its GPUs: true (also without a value) or false')
            [CompletionResult]::new('-w', '-w', [CompletionResultType]::ParameterName, 'Pods that work: N, or N..M where the framework can grow and shrink')
            [CompletionResult]::new('--workers', '--workers', [CompletionResultType]::ParameterName, 'Pods that work: N, or N..M where the framework can grow and shrink')
            [CompletionResult]::new('--min', '--min', [CompletionResultType]::ParameterName, 'How many of the workers must start together (default: all)')
            [CompletionResult]::new('--max-runtime', '--max-runtime', [CompletionResultType]::ParameterName, 'Longest run, such as 12h')
            [CompletionResult]::new('--retries', '--retries', [CompletionResultType]::ParameterName, 'Retries after a failure')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Label KEY=VALUE on the workload and its pods, repeatable')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'Label KEY=VALUE on the workload and its pods, repeatable')
            [CompletionResult]::new('--annotation', '--annotation', [CompletionResultType]::ParameterName, 'Annotation KEY=VALUE on the workload, repeatable')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Wait until it is scheduled, running or complete (also without a value: complete)')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Longest wait, such as 30m')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Create nothing: none, client (asks at most which kinds are served), server (all checks of the cluster)')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('--no-gang', '--no-gang', [CompletionResultType]::ParameterName, 'Let each worker start alone')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Submit in spite of another scheduler in the manifest, or of a queue in which nothing can run')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-kai;wait' {
            [CompletionResult]::new('--for', '--for', [CompletionResultType]::ParameterName, 'State to wait for')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Longest wait, such as 30m')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-kai;suspend' {
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Only let the server check it')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-kai;resume' {
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Only let the server check it')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-kai;delete' {
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Workloads of a queue, and of those below it')
            [CompletionResult]::new('--queue', '--queue', [CompletionResultType]::ParameterName, 'Workloads of a queue, and of those below it')
            [CompletionResult]::new('--status', '--status', [CompletionResultType]::ParameterName, 'Workloads in one of these states, such as pending,running')
            [CompletionResult]::new('--kind', '--kind', [CompletionResultType]::ParameterName, 'Workloads of one kind, such as pytorch or rayjob')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Workloads with these labels, such as team=vision,tier!=dev')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Workloads with these labels, such as team=vision,tier!=dev')
            [CompletionResult]::new('--since', '--since', [CompletionResultType]::ParameterName, 'Workloads that are at most so old, such as 2h')
            [CompletionResult]::new('--older', '--older', [CompletionResultType]::ParameterName, 'Workloads that are older, such as 7d')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Ask nothing')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Ask nothing')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Only say what would be deleted')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-kai;list' {
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Workloads of a queue, and of those below it')
            [CompletionResult]::new('--queue', '--queue', [CompletionResultType]::ParameterName, 'Workloads of a queue, and of those below it')
            [CompletionResult]::new('--status', '--status', [CompletionResultType]::ParameterName, 'Workloads in one of these states, such as pending,running')
            [CompletionResult]::new('--kind', '--kind', [CompletionResultType]::ParameterName, 'Workloads of one kind, such as pytorch or rayjob')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Workloads with these labels, such as team=vision,tier!=dev')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Workloads with these labels, such as team=vision,tier!=dev')
            [CompletionResult]::new('--since', '--since', [CompletionResultType]::ParameterName, 'Workloads that are at most so old, such as 2h')
            [CompletionResult]::new('--older', '--older', [CompletionResultType]::ParameterName, 'Workloads that are older, such as 7d')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-kai;describe' {
            [CompletionResult]::new('--events', '--events', [CompletionResultType]::ParameterName, 'How many events to show')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-kai;queues' {
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('--flat', '--flat', [CompletionResultType]::ParameterName, 'A flat list with all amounts, no tree')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('create', 'create', [CompletionResultType]::ParameterValue, 'Create a queue')
            [CompletionResult]::new('set', 'set', [CompletionResultType]::ParameterValue, 'Change quota, limit, weight or priority of a queue')
            [CompletionResult]::new('delete', 'delete', [CompletionResultType]::ParameterValue, 'Delete queues without children and without work')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'kubectl-kai;queues;create' {
            [CompletionResult]::new('--parent', '--parent', [CompletionResultType]::ParameterName, 'Queue above it')
            [CompletionResult]::new('--gpu-quota', '--gpu-quota', [CompletionResultType]::ParameterName, 'GPUs that it is owed')
            [CompletionResult]::new('--gpu-limit', '--gpu-limit', [CompletionResultType]::ParameterName, 'GPUs that it may use at most')
            [CompletionResult]::new('--gpu-weight', '--gpu-weight', [CompletionResultType]::ParameterName, 'Its part of GPUs that are left over, against its siblings')
            [CompletionResult]::new('--cpu-quota', '--cpu-quota', [CompletionResultType]::ParameterName, 'CPU cores that it is owed, such as 64 or 500m')
            [CompletionResult]::new('--cpu-limit', '--cpu-limit', [CompletionResultType]::ParameterName, 'CPU cores that it may use at most')
            [CompletionResult]::new('--cpu-weight', '--cpu-weight', [CompletionResultType]::ParameterName, 'Its part of CPU that is left over')
            [CompletionResult]::new('--memory-quota', '--memory-quota', [CompletionResultType]::ParameterName, 'Memory that it is owed, such as 512Gi')
            [CompletionResult]::new('--memory-limit', '--memory-limit', [CompletionResultType]::ParameterName, 'Memory that it may use at most')
            [CompletionResult]::new('--memory-weight', '--memory-weight', [CompletionResultType]::ParameterName, 'Its part of memory that is left over')
            [CompletionResult]::new('--priority', '--priority', [CompletionResultType]::ParameterName, 'Queues with a higher number come first')
            [CompletionResult]::new('--display-name', '--display-name', [CompletionResultType]::ParameterName, 'Name for people')
            [CompletionResult]::new('--preempt-min-runtime', '--preempt-min-runtime', [CompletionResultType]::ParameterName, 'Run time before others of the same queue may preempt, such as 30m')
            [CompletionResult]::new('--reclaim-min-runtime', '--reclaim-min-runtime', [CompletionResultType]::ParameterName, 'Run time before other queues may reclaim, such as 30m')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Create nothing: none, client or server')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Ask nothing')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Ask nothing')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-kai;queues;set' {
            [CompletionResult]::new('--gpu-quota', '--gpu-quota', [CompletionResultType]::ParameterName, 'GPUs that it is owed')
            [CompletionResult]::new('--gpu-limit', '--gpu-limit', [CompletionResultType]::ParameterName, 'GPUs that it may use at most')
            [CompletionResult]::new('--gpu-weight', '--gpu-weight', [CompletionResultType]::ParameterName, 'Its part of GPUs that are left over, against its siblings')
            [CompletionResult]::new('--cpu-quota', '--cpu-quota', [CompletionResultType]::ParameterName, 'CPU cores that it is owed, such as 64 or 500m')
            [CompletionResult]::new('--cpu-limit', '--cpu-limit', [CompletionResultType]::ParameterName, 'CPU cores that it may use at most')
            [CompletionResult]::new('--cpu-weight', '--cpu-weight', [CompletionResultType]::ParameterName, 'Its part of CPU that is left over')
            [CompletionResult]::new('--memory-quota', '--memory-quota', [CompletionResultType]::ParameterName, 'Memory that it is owed, such as 512Gi')
            [CompletionResult]::new('--memory-limit', '--memory-limit', [CompletionResultType]::ParameterName, 'Memory that it may use at most')
            [CompletionResult]::new('--memory-weight', '--memory-weight', [CompletionResultType]::ParameterName, 'Its part of memory that is left over')
            [CompletionResult]::new('--priority', '--priority', [CompletionResultType]::ParameterName, 'Queues with a higher number come first')
            [CompletionResult]::new('--display-name', '--display-name', [CompletionResultType]::ParameterName, 'Name for people')
            [CompletionResult]::new('--preempt-min-runtime', '--preempt-min-runtime', [CompletionResultType]::ParameterName, 'Run time before others of the same queue may preempt, such as 30m')
            [CompletionResult]::new('--reclaim-min-runtime', '--reclaim-min-runtime', [CompletionResultType]::ParameterName, 'Run time before other queues may reclaim, such as 30m')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Ask nothing')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Ask nothing')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Only show the plan')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-kai;queues;delete' {
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Delete queues that still have work: it stays pending until its queue is back')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Ask nothing')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Ask nothing')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-kai;queues;help' {
            [CompletionResult]::new('create', 'create', [CompletionResultType]::ParameterValue, 'Create a queue')
            [CompletionResult]::new('set', 'set', [CompletionResultType]::ParameterValue, 'Change quota, limit, weight or priority of a queue')
            [CompletionResult]::new('delete', 'delete', [CompletionResultType]::ParameterValue, 'Delete queues without children and without work')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'kubectl-kai;queues;help;create' {
            break
        }
        'kubectl-kai;queues;help;set' {
            break
        }
        'kubectl-kai;queues;help;delete' {
            break
        }
        'kubectl-kai;queues;help;help' {
            break
        }
        'kubectl-kai;top' {
            [CompletionResult]::new('--node', '--node', [CompletionResultType]::ParameterName, 'Only this node, or those of a pattern with *, repeatable')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Only devices that work of this queue, or of those below it, holds')
            [CompletionResult]::new('--queue', '--queue', [CompletionResultType]::ParameterName, 'Only devices that work of this queue, or of those below it, holds')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-kai;logs' {
            [CompletionResult]::new('--rank', '--rank', [CompletionResultType]::ParameterName, 'Ranks, as 0,3 (the master is 0) or worker-0 or worker')
            [CompletionResult]::new('--tail', '--tail', [CompletionResultType]::ParameterName, 'Last lines of each rank only; -1 for all')
            [CompletionResult]::new('--since', '--since', [CompletionResultType]::ParameterName, 'Lines since a time ago, such as 10m')
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'Container, when it is not the one that works')
            [CompletionResult]::new('--container', '--container', [CompletionResultType]::ParameterName, 'Container, when it is not the one that works')
            [CompletionResult]::new('--prefix', '--prefix', [CompletionResultType]::ParameterName, 'What stands before a line: rank, pod or none')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Go on until the workload ends; the exit code tells how')
            [CompletionResult]::new('--follow', '--follow', [CompletionResultType]::ParameterName, 'Go on until the workload ends; the exit code tells how')
            [CompletionResult]::new('--timestamps', '--timestamps', [CompletionResultType]::ParameterName, 'Show the time of each line')
            [CompletionResult]::new('--previous', '--previous', [CompletionResultType]::ParameterName, 'The container before its last restart')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-kai;sandbox' {
            [CompletionResult]::new('--nodes', '--nodes', [CompletionResultType]::ParameterName, 'Simulated nodes: COUNTxMODEL:GPUS[/MIG-PROFILE] or COUNTxcpu:CORES, comma-separated; none for none')
            [CompletionResult]::new('--rack-nodes', '--rack-nodes', [CompletionResultType]::ParameterName, 'Nodes in a rack')
            [CompletionResult]::new('--operators', '--operators', [CompletionResultType]::ParameterName, 'Stand-ins for workload operators: all, none, or names (ray, training, argo, notebook, core, scheduler)')
            [CompletionResult]::new('--attach', '--attach', [CompletionResultType]::ParameterName, 'Run only nodes and operators, against the cluster of this kubeconfig context')
            [CompletionResult]::new('--pace', '--pace', [CompletionResultType]::ParameterName, 'Simulated seconds that pass in a second (1, with --demo 60)')
            [CompletionResult]::new('--port', '--port', [CompletionResultType]::ParameterName, 'Port of the API server on 127.0.0.1; 0 picks a free one')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('--demo', '--demo', [CompletionResultType]::ParameterName, 'Tell the product''s story with real commands; ends with 0 when it came out as told')
            [CompletionResult]::new('--keep', '--keep', [CompletionResultType]::ParameterName, 'Leave the cluster up after --demo; leave the nodes registered after --attach')
            [CompletionResult]::new('--limits', '--limits', [CompletionResultType]::ParameterName, 'Print what the embedded API server leaves out')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-kai;install' {
            [CompletionResult]::new('--components', '--components', [CompletionResultType]::ParameterName, 'Only these parts, comma-separated')
            [CompletionResult]::new('--image', '--image', [CompletionResultType]::ParameterName, 'Container image of both daemons')
            [CompletionResult]::new('--default-queue', '--default-queue', [CompletionResultType]::ParameterName, 'Queue to create below default-parent-queue; empty for none')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Wait until the daemons are ready')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Longest wait, as 90s or 5m')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('--without-daemons', '--without-daemons', [CompletionResultType]::ParameterName, 'All but the Deployments: the daemons run elsewhere')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Do not ask')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show what would change, and change nothing')
            [CompletionResult]::new('--force-conflicts', '--force-conflicts', [CompletionResultType]::ParameterName, 'Take over fields that somebody else has set')
            [CompletionResult]::new('--adopt', '--adopt', [CompletionResultType]::ParameterName, 'Replace an existing KAI installation; its queues and workloads stay')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('apply', 'apply', [CompletionResultType]::ParameterValue, 'Show what would change, ask, apply, wait until it runs (the default)')
            [CompletionResult]::new('render', 'render', [CompletionResultType]::ParameterValue, 'Print the manifests, to be kept in git')
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'What is there, and whether it is healthy (exit code 10 when not)')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Take the scheduler out; queues and workloads stay unless --crds')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'kubectl-kai;install;apply' {
            [CompletionResult]::new('--components', '--components', [CompletionResultType]::ParameterName, 'Only these parts, comma-separated')
            [CompletionResult]::new('--image', '--image', [CompletionResultType]::ParameterName, 'Container image of both daemons')
            [CompletionResult]::new('--default-queue', '--default-queue', [CompletionResultType]::ParameterName, 'Queue to create below default-parent-queue; empty for none')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Wait until the daemons are ready')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Longest wait, as 90s or 5m')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('--without-daemons', '--without-daemons', [CompletionResultType]::ParameterName, 'All but the Deployments: the daemons run elsewhere')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Do not ask')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show what would change, and change nothing')
            [CompletionResult]::new('--force-conflicts', '--force-conflicts', [CompletionResultType]::ParameterName, 'Take over fields that somebody else has set')
            [CompletionResult]::new('--adopt', '--adopt', [CompletionResultType]::ParameterName, 'Replace an existing KAI installation; its queues and workloads stay')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-kai;install;render' {
            [CompletionResult]::new('--components', '--components', [CompletionResultType]::ParameterName, 'Only these parts, comma-separated')
            [CompletionResult]::new('--image', '--image', [CompletionResultType]::ParameterName, 'Container image of both daemons')
            [CompletionResult]::new('--default-queue', '--default-queue', [CompletionResultType]::ParameterName, 'Queue to create below default-parent-queue; empty for none')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('--without-daemons', '--without-daemons', [CompletionResultType]::ParameterName, 'All but the Deployments: the daemons run elsewhere')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-kai;install;status' {
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-kai;install;remove' {
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Do not ask')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Also while workloads run')
            [CompletionResult]::new('--crds', '--crds', [CompletionResultType]::ParameterName, 'Also the custom resource definitions, and with them all queues and pod groups')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-kai;install;help' {
            [CompletionResult]::new('apply', 'apply', [CompletionResultType]::ParameterValue, 'Show what would change, ask, apply, wait until it runs (the default)')
            [CompletionResult]::new('render', 'render', [CompletionResultType]::ParameterValue, 'Print the manifests, to be kept in git')
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'What is there, and whether it is healthy (exit code 10 when not)')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Take the scheduler out; queues and workloads stay unless --crds')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'kubectl-kai;install;help;apply' {
            break
        }
        'kubectl-kai;install;help;render' {
            break
        }
        'kubectl-kai;install;help;status' {
            break
        }
        'kubectl-kai;install;help;remove' {
            break
        }
        'kubectl-kai;install;help;help' {
            break
        }
        'kubectl-kai;snapshot' {
            [CompletionResult]::new('--shard', '--shard', [CompletionResultType]::ParameterName, 'The shard whose scheduler is meant')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Replace the file if there is one')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'What a snapshot holds, and what the scheduler would do next')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'kubectl-kai;snapshot;show' {
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-kai;snapshot;help' {
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'What a snapshot holds, and what the scheduler would do next')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'kubectl-kai;snapshot;help;show' {
            break
        }
        'kubectl-kai;snapshot;help;help' {
            break
        }
        'kubectl-kai;completion' {
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('bash', 'bash', [CompletionResultType]::ParameterValue, 'Print the script for bash')
            [CompletionResult]::new('zsh', 'zsh', [CompletionResultType]::ParameterValue, 'Print the script for zsh')
            [CompletionResult]::new('fish', 'fish', [CompletionResultType]::ParameterValue, 'Print the script for fish')
            [CompletionResult]::new('powershell', 'powershell', [CompletionResultType]::ParameterValue, 'Print the script for PowerShell')
            [CompletionResult]::new('elvish', 'elvish', [CompletionResultType]::ParameterValue, 'Print the script for elvish')
            [CompletionResult]::new('install', 'install', [CompletionResultType]::ParameterValue, 'Make `kubectl kai <TAB>` work: link kubectl_complete-kai to this program')
            [CompletionResult]::new('uninstall', 'uninstall', [CompletionResultType]::ParameterValue, 'Remove the link')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'kubectl-kai;completion;bash' {
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-kai;completion;zsh' {
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-kai;completion;fish' {
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-kai;completion;powershell' {
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-kai;completion;elvish' {
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-kai;completion;install' {
            [CompletionResult]::new('--shim-dir', '--shim-dir', [CompletionResultType]::ParameterName, 'Folder for the link; it has to be in PATH')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-kai;completion;uninstall' {
            [CompletionResult]::new('--shim-dir', '--shim-dir', [CompletionResultType]::ParameterName, 'Folder of the link')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-kai;completion;help' {
            [CompletionResult]::new('bash', 'bash', [CompletionResultType]::ParameterValue, 'Print the script for bash')
            [CompletionResult]::new('zsh', 'zsh', [CompletionResultType]::ParameterValue, 'Print the script for zsh')
            [CompletionResult]::new('fish', 'fish', [CompletionResultType]::ParameterValue, 'Print the script for fish')
            [CompletionResult]::new('powershell', 'powershell', [CompletionResultType]::ParameterValue, 'Print the script for PowerShell')
            [CompletionResult]::new('elvish', 'elvish', [CompletionResultType]::ParameterValue, 'Print the script for elvish')
            [CompletionResult]::new('install', 'install', [CompletionResultType]::ParameterValue, 'Make `kubectl kai <TAB>` work: link kubectl_complete-kai to this program')
            [CompletionResult]::new('uninstall', 'uninstall', [CompletionResultType]::ParameterValue, 'Remove the link')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'kubectl-kai;completion;help;bash' {
            break
        }
        'kubectl-kai;completion;help;zsh' {
            break
        }
        'kubectl-kai;completion;help;fish' {
            break
        }
        'kubectl-kai;completion;help;powershell' {
            break
        }
        'kubectl-kai;completion;help;elvish' {
            break
        }
        'kubectl-kai;completion;help;install' {
            break
        }
        'kubectl-kai;completion;help;uninstall' {
            break
        }
        'kubectl-kai;completion;help;help' {
            break
        }
        'kubectl-kai;config' {
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('view', 'view', [CompletionResultType]::ParameterValue, 'Every setting that has a value')
            [CompletionResult]::new('get', 'get', [CompletionResultType]::ParameterValue, 'One value')
            [CompletionResult]::new('set', 'set', [CompletionResultType]::ParameterValue, 'Write a value into a file')
            [CompletionResult]::new('unset', 'unset', [CompletionResultType]::ParameterValue, 'Remove a value from a file')
            [CompletionResult]::new('path', 'path', [CompletionResultType]::ParameterValue, 'The files that are read, the first wins')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'kubectl-kai;config;view' {
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('--show-origin', '--show-origin', [CompletionResultType]::ParameterName, 'Say where each value was set, and what it hides')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-kai;config;get' {
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-kai;config;set' {
            [CompletionResult]::new('--scope', '--scope', [CompletionResultType]::ParameterName, 'Which file')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-kai;config;unset' {
            [CompletionResult]::new('--scope', '--scope', [CompletionResultType]::ParameterName, 'Which file')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-kai;config;path' {
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-kai;config;help' {
            [CompletionResult]::new('view', 'view', [CompletionResultType]::ParameterValue, 'Every setting that has a value')
            [CompletionResult]::new('get', 'get', [CompletionResultType]::ParameterValue, 'One value')
            [CompletionResult]::new('set', 'set', [CompletionResultType]::ParameterValue, 'Write a value into a file')
            [CompletionResult]::new('unset', 'unset', [CompletionResultType]::ParameterValue, 'Remove a value from a file')
            [CompletionResult]::new('path', 'path', [CompletionResultType]::ParameterValue, 'The files that are read, the first wins')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'kubectl-kai;config;help;view' {
            break
        }
        'kubectl-kai;config;help;get' {
            break
        }
        'kubectl-kai;config;help;set' {
            break
        }
        'kubectl-kai;config;help;unset' {
            break
        }
        'kubectl-kai;config;help;path' {
            break
        }
        'kubectl-kai;config;help;help' {
            break
        }
        'kubectl-kai;version' {
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('--client', '--client', [CompletionResultType]::ParameterName, 'Ask no server')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-kai;options' {
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace to work in')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'table, wide, json, yaml, name or jsonpath=TEMPLATE')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour: auto, always, never')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate, repeatable')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name expected in the certificate of the API server')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, as 5s or 1m')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Folder for the completion cache')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'All namespaces')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Print no header line')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw bars and trees with ASCII characters only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print data and errors only')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Log each request on stderr; twice, also what libraries do')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the certificate of the API server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-kai;help' {
            [CompletionResult]::new('submit', 'submit', [CompletionResultType]::ParameterValue, 'Submit a job in any framework, or any manifest, to a queue')
            [CompletionResult]::new('wait', 'wait', [CompletionResultType]::ParameterValue, 'Wait until workloads are scheduled, running or finished')
            [CompletionResult]::new('suspend', 'suspend', [CompletionResultType]::ParameterValue, 'Give the GPUs back but keep the workload')
            [CompletionResult]::new('resume', 'resume', [CompletionResultType]::ParameterValue, 'Put suspended workloads back in the queue')
            [CompletionResult]::new('delete', 'delete', [CompletionResultType]::ParameterValue, 'Delete workloads')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Workloads with their state and the reason why they wait')
            [CompletionResult]::new('describe', 'describe', [CompletionResultType]::ParameterValue, 'One workload on one screen')
            [CompletionResult]::new('queues', 'queues', [CompletionResultType]::ParameterValue, 'Queue tree, quotas, use; create, set, delete')
            [CompletionResult]::new('top', 'top', [CompletionResultType]::ParameterValue, 'Every GPU, and who holds what of it')
            [CompletionResult]::new('logs', 'logs', [CompletionResultType]::ParameterValue, 'Logs of all ranks, merged')
            [CompletionResult]::new('sandbox', 'sandbox', [CompletionResultType]::ParameterValue, 'A whole cluster in this process: try it without one')
            [CompletionResult]::new('install', 'install', [CompletionResultType]::ParameterValue, 'Install, check or remove the scheduler')
            [CompletionResult]::new('snapshot', 'snapshot', [CompletionResultType]::ParameterValue, 'What the scheduler sees of the cluster, in a file; and what it would do next')
            [CompletionResult]::new('completion', 'completion', [CompletionResultType]::ParameterValue, 'Shell completion, also through `kubectl kai <TAB>`')
            [CompletionResult]::new('config', 'config', [CompletionResultType]::ParameterValue, 'Defaults, and where each value came from')
            [CompletionResult]::new('version', 'version', [CompletionResultType]::ParameterValue, 'Client and scheduler versions')
            [CompletionResult]::new('options', 'options', [CompletionResultType]::ParameterValue, 'Connection flags that every command takes')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'kubectl-kai;help;submit' {
            break
        }
        'kubectl-kai;help;wait' {
            break
        }
        'kubectl-kai;help;suspend' {
            break
        }
        'kubectl-kai;help;resume' {
            break
        }
        'kubectl-kai;help;delete' {
            break
        }
        'kubectl-kai;help;list' {
            break
        }
        'kubectl-kai;help;describe' {
            break
        }
        'kubectl-kai;help;queues' {
            [CompletionResult]::new('create', 'create', [CompletionResultType]::ParameterValue, 'Create a queue')
            [CompletionResult]::new('set', 'set', [CompletionResultType]::ParameterValue, 'Change quota, limit, weight or priority of a queue')
            [CompletionResult]::new('delete', 'delete', [CompletionResultType]::ParameterValue, 'Delete queues without children and without work')
            break
        }
        'kubectl-kai;help;queues;create' {
            break
        }
        'kubectl-kai;help;queues;set' {
            break
        }
        'kubectl-kai;help;queues;delete' {
            break
        }
        'kubectl-kai;help;top' {
            break
        }
        'kubectl-kai;help;logs' {
            break
        }
        'kubectl-kai;help;sandbox' {
            break
        }
        'kubectl-kai;help;install' {
            [CompletionResult]::new('apply', 'apply', [CompletionResultType]::ParameterValue, 'Show what would change, ask, apply, wait until it runs (the default)')
            [CompletionResult]::new('render', 'render', [CompletionResultType]::ParameterValue, 'Print the manifests, to be kept in git')
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'What is there, and whether it is healthy (exit code 10 when not)')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Take the scheduler out; queues and workloads stay unless --crds')
            break
        }
        'kubectl-kai;help;install;apply' {
            break
        }
        'kubectl-kai;help;install;render' {
            break
        }
        'kubectl-kai;help;install;status' {
            break
        }
        'kubectl-kai;help;install;remove' {
            break
        }
        'kubectl-kai;help;snapshot' {
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'What a snapshot holds, and what the scheduler would do next')
            break
        }
        'kubectl-kai;help;snapshot;show' {
            break
        }
        'kubectl-kai;help;completion' {
            [CompletionResult]::new('bash', 'bash', [CompletionResultType]::ParameterValue, 'Print the script for bash')
            [CompletionResult]::new('zsh', 'zsh', [CompletionResultType]::ParameterValue, 'Print the script for zsh')
            [CompletionResult]::new('fish', 'fish', [CompletionResultType]::ParameterValue, 'Print the script for fish')
            [CompletionResult]::new('powershell', 'powershell', [CompletionResultType]::ParameterValue, 'Print the script for PowerShell')
            [CompletionResult]::new('elvish', 'elvish', [CompletionResultType]::ParameterValue, 'Print the script for elvish')
            [CompletionResult]::new('install', 'install', [CompletionResultType]::ParameterValue, 'Make `kubectl kai <TAB>` work: link kubectl_complete-kai to this program')
            [CompletionResult]::new('uninstall', 'uninstall', [CompletionResultType]::ParameterValue, 'Remove the link')
            break
        }
        'kubectl-kai;help;completion;bash' {
            break
        }
        'kubectl-kai;help;completion;zsh' {
            break
        }
        'kubectl-kai;help;completion;fish' {
            break
        }
        'kubectl-kai;help;completion;powershell' {
            break
        }
        'kubectl-kai;help;completion;elvish' {
            break
        }
        'kubectl-kai;help;completion;install' {
            break
        }
        'kubectl-kai;help;completion;uninstall' {
            break
        }
        'kubectl-kai;help;config' {
            [CompletionResult]::new('view', 'view', [CompletionResultType]::ParameterValue, 'Every setting that has a value')
            [CompletionResult]::new('get', 'get', [CompletionResultType]::ParameterValue, 'One value')
            [CompletionResult]::new('set', 'set', [CompletionResultType]::ParameterValue, 'Write a value into a file')
            [CompletionResult]::new('unset', 'unset', [CompletionResultType]::ParameterValue, 'Remove a value from a file')
            [CompletionResult]::new('path', 'path', [CompletionResultType]::ParameterValue, 'The files that are read, the first wins')
            break
        }
        'kubectl-kai;help;config;view' {
            break
        }
        'kubectl-kai;help;config;get' {
            break
        }
        'kubectl-kai;help;config;set' {
            break
        }
        'kubectl-kai;help;config;unset' {
            break
        }
        'kubectl-kai;help;config;path' {
            break
        }
        'kubectl-kai;help;version' {
            break
        }
        'kubectl-kai;help;options' {
            break
        }
        'kubectl-kai;help;help' {
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
