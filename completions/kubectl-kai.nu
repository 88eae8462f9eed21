module completions {

  def "nu-complete kubectl-kai color" [] {
    [ "auto" "always" "never" ]
  }

  # Submit AI workloads to the KAI scheduler and understand what happens to them
  export extern kubectl-kai [
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
    --version(-V)             # Print version
  ]

  def "nu-complete kubectl-kai submit preemptible" [] {
    [ "true" "false" ]
  }

  def "nu-complete kubectl-kai submit wait" [] {
    [ "scheduled" "running" "complete" ]
  }

  def "nu-complete kubectl-kai submit dry_run" [] {
    [ "none" "client" "server" "plan" ]
  }

  def "nu-complete kubectl-kai submit color" [] {
    [ "auto" "always" "never" ]
  }

  # Submit a job in any framework, or any manifest, to a queue
  export extern "kubectl-kai submit" [
    --filename(-f): path      # Manifests to submit, of any kind: a file, a folder, an address on the web, or - for standard input; repeatable
    --sbatch: path            # Script for Slurm: its #SBATCH lines are flags, and each pod runs it; also as submit FILE.sbatch
    --recursive(-R)           # Read folders behind -f with all folders in them
    --template: string        # Template instead of the kind's: a name (config templates list) or a file
    --param(-p): string       # Parameter of the template, or of an Argo workflow, repeatable
    --image: string           # Container image
    --gpu(-g): string         # GPUs of each worker: 2, 0.5, 0.25x4 (a quarter of each of four), 8Gi, 8Gix2, mig:1g.10gb, H100:4; of other makers amd:2, gaudi:2, RESOURCE:2, and by DRA dra:CLASS:2
    --gpu-type: string        # Model of GPU, such as H100 or A100-SXM4-80GB
    --gpu-memory: string      # GPU memory of each worker on one shared device, such as 8Gi
    --mig: string             # MIG instance of each worker, or several: 1g.10gb, 1g.10gbx2
    --gpu-fraction-container: string # Container that gets the share of a GPU; the first one without it
    --cpu: string             # CPU of each worker, such as 4 or 500m
    --memory: string          # Memory of each worker, such as 64Gi
    --from: string            # Workload to submit again, as NAME or with the next number; other flags change it
    --shell                   # Run the command as a line for sh, with its && and $VARIABLES
    --port: string            # Port that the container listens on, as port-forward finds it; repeatable
    --run-as: string          # User, and group, that the containers run as (--user is the kubeconfig's)
    --rdma: string            # Devices for RDMA by the resource of their plugin, such as rdma/hca:1; memory may be locked then
    --mps                     # Share the GPU by MPS; needs a share: --gpu 0.5
    --env(-e): string         # Environment variable NAME=VALUE, or NAME to forward yours, repeatable
    --env-from: string        # Variables of all keys of secret/NAME or configmap/NAME, repeatable
    --secret: string          # Secret: its keys as variables, or as files under PATH, repeatable
    --configmap: string       # Config map: its keys as variables, or as files under PATH, repeatable
    --pull-secret: string     # Secret to pull the image with, repeatable
    --mount(-m): string       # Volume: pvc://CLAIM[/DIR]:/PATH[:ro], host:///DIR:/PATH, new://100Gi[,CLASS]:/PATH (of each pod), empty://10Gi:/PATH, or a name of mounts: in the configuration; repeatable
    --shm: string             # Shared memory of each pod under /dev/shm, such as 16Gi
    --workdir: directory      # Folder whose files the containers find in their working folder; .gitignore and .kaiignore are heeded
    --git: string             # Git repository that is cloned into the working folder
    --git-secret: string      # Secret for the repository: username and password, or ssh-privatekey
    --code-image: string      # Image of the container that unpacks or clones (default: the workload's own to unpack, alpine/git to clone)
    --queue(-q): string       # Queue to wait in
    --priority: string        # Priority class: train, build, inference, ...
    --preemptible: string@"nu-complete kubectl-kai submit preemptible" # Whether others may take its GPUs: true (also without a value) or false
    --workers(-w): string     # Pods that work: N, or N..M where the framework can grow and shrink
    --min: string             # How many of the workers must start together (default: all)
    --min-per-role: string    # How many pods of a role must start together, such as worker=4, repeatable: pytorch, ray, jobset, trainjob
    --no-gang                 # Let each worker start alone
    --max-runtime: string     # Longest run, such as 12h
    --retries: string         # Retries after a failure
    --label(-l): string       # Label KEY=VALUE on the workload and its pods, repeatable
    --annotation: string      # Annotation KEY=VALUE on the workload, repeatable
    --force                   # Submit in spite of another scheduler in the manifest, a queue in which nothing can run, or nodes that are too small
    --topology: string        # Level of a topology within one domain of which all pods stay, such as rack; rack:preferred where others will do; TOPOLOGY=LEVEL where several have it
    --node-selector: string   # Label KEY=VALUE that nodes must have, repeatable
    --toleration: string      # Taint of nodes that is tolerated, KEY[=VALUE][:EFFECT], repeatable
    --node-pool: string       # Node pool; the shard of the scheduler that serves it places the pods
    --service-account: string # Service account that the pods run as
    --replicas: string        # Groups of so many workers each: jobset, lws
    --array: string           # Tasks of a job, each a pod with a number of its own: 100, 0-99, or 100%10 for ten at a time
    --schedule: string        # When a cronjob runs, such as '0 2 * * *'
    --time-zone: string       # Time zone of --schedule, such as Europe/Paris
    --ttl: string             # Delete it so long after its end, such as 1h
    --main-class: string      # Main class of a Spark application in a .jar
    --wait: string@"nu-complete kubectl-kai submit wait" # Wait until it is scheduled, running or complete (also without a value: complete)
    --timeout: string         # Longest wait, such as 30m
    --dry-run: string@"nu-complete kubectl-kai submit dry_run" # Create nothing: none, client (asks at most which kinds are served), server (all checks of the cluster), plan (where, when, at whose cost)
    --exit-code               # With --dry-run=plan: end with 6 when it cannot start at once
    --replace                 # Change what exists and differs from its manifest, or delete it and create it anew where it cannot be changed
    --watch                   # Say each change of its state until it has ended; the exit code tells how
    --logs                    # Print the logs of all ranks until it has ended; the exit code tells how
    --stdin(-i)               # Wait until it runs, and hand stdin on to its container; the exit code is the container's
    --tty(-t)                 # Give its container this terminal, as -it
    --rm                      # Delete it once it has ended
    --confirm                 # Show what would be created, and ask before it is
    --diff                    # Show the difference to what is there, and create nothing; the exit code is 1 where there is one
    --save-template: string   # Keep it as a template of yours, for --template, and submit nothing
    --yes(-y)                 # Ask nothing: with --confirm, before --replace deletes, and before --save-template replaces a template
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai submit color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help (see more with '--help')
    ...names: string          # Kind (job, pytorch, ray, jobset, ...; see below) and name; without a kind it is a job
  ]

  def "nu-complete kubectl-kai wait status" [] {
    [ "waiting" "pending" "starting" "running" "degraded" "suspended" "deleting" "succeeded" "failed" ]
  }

  def "nu-complete kubectl-kai wait goal" [] {
    [ "scheduled" "running" "complete" "failed" "deleted" "position=1" ]
  }

  def "nu-complete kubectl-kai wait color" [] {
    [ "auto" "always" "never" ]
  }

  # Wait until workloads are scheduled, running or finished
  export extern "kubectl-kai wait" [
    --queue(-q): string       # Workloads of a queue, and of those below it
    --status: string@"nu-complete kubectl-kai wait status" # Workloads in one of these states, such as pending,running
    --kind: string            # Workloads of one kind, such as pytorch or rayjob
    --selector(-l): string    # Workloads with these labels, such as team=vision,tier!=dev
    --field-selector: string  # Workloads whose objects have these fields, such as spec.suspend=true,metadata.name!=a
    --since: string           # Workloads made since then: 2h ago, or a time such as 2026-01-31 or 2026-01-31T12:00:00Z
    --older: string           # Workloads made before then: 7d ago, or a time
    --until: string           # Workloads made before then: 7d ago, or a time
    --owner: string           # Workloads of a user, by the label or annotation user (--user is the kubeconfig's)
    --mine                    # My workloads: those of the user that the server takes me for
    --for: string@"nu-complete kubectl-kai wait goal" # State to wait for: scheduled, running, complete, failed, deleted or position=N
    --timeout: string         # Longest wait, such as 30m
    --any                     # Until one of them is there, instead of all
    --exec: string            # A command for sh, run for each workload once it is waited for no more
    --exit-code-from: string  # Ends with the exit code of a rank, such as worker-0, or of the one that failed first: first
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai wait color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
    ...names: string          # Names of workloads, kind/name, or patterns with *
  ]

  def "nu-complete kubectl-kai suspend status" [] {
    [ "waiting" "pending" "starting" "running" "degraded" "suspended" "deleting" "succeeded" "failed" ]
  }

  def "nu-complete kubectl-kai suspend color" [] {
    [ "auto" "always" "never" ]
  }

  # Give the GPUs back but keep the workload
  export extern "kubectl-kai suspend" [
    --queue(-q): string       # Workloads of a queue, and of those below it
    --status: string@"nu-complete kubectl-kai suspend status" # Workloads in one of these states, such as pending,running
    --kind: string            # Workloads of one kind, such as pytorch or rayjob
    --selector(-l): string    # Workloads with these labels, such as team=vision,tier!=dev
    --field-selector: string  # Workloads whose objects have these fields, such as spec.suspend=true,metadata.name!=a
    --since: string           # Workloads made since then: 2h ago, or a time such as 2026-01-31 or 2026-01-31T12:00:00Z
    --older: string           # Workloads made before then: 7d ago, or a time
    --until: string           # Workloads made before then: 7d ago, or a time
    --owner: string           # Workloads of a user, by the label or annotation user (--user is the kubeconfig's)
    --mine                    # My workloads: those of the user that the server takes me for
    --yes(-y)                 # Ask nothing
    --dry-run                 # Only let the server check it
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai suspend color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
    ...names: string          # Names of workloads, kind/name, or patterns with *
  ]

  def "nu-complete kubectl-kai resume status" [] {
    [ "waiting" "pending" "starting" "running" "degraded" "suspended" "deleting" "succeeded" "failed" ]
  }

  def "nu-complete kubectl-kai resume color" [] {
    [ "auto" "always" "never" ]
  }

  # Put suspended workloads back in the queue
  export extern "kubectl-kai resume" [
    --queue(-q): string       # Workloads of a queue, and of those below it
    --status: string@"nu-complete kubectl-kai resume status" # Workloads in one of these states, such as pending,running
    --kind: string            # Workloads of one kind, such as pytorch or rayjob
    --selector(-l): string    # Workloads with these labels, such as team=vision,tier!=dev
    --field-selector: string  # Workloads whose objects have these fields, such as spec.suspend=true,metadata.name!=a
    --since: string           # Workloads made since then: 2h ago, or a time such as 2026-01-31 or 2026-01-31T12:00:00Z
    --older: string           # Workloads made before then: 7d ago, or a time
    --until: string           # Workloads made before then: 7d ago, or a time
    --owner: string           # Workloads of a user, by the label or annotation user (--user is the kubeconfig's)
    --mine                    # My workloads: those of the user that the server takes me for
    --yes(-y)                 # Ask nothing
    --dry-run                 # Only let the server check it
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai resume color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
    ...names: string          # Names of workloads, kind/name, or patterns with *
  ]

  def "nu-complete kubectl-kai delete status" [] {
    [ "waiting" "pending" "starting" "running" "degraded" "suspended" "deleting" "succeeded" "failed" ]
  }

  def "nu-complete kubectl-kai delete color" [] {
    [ "auto" "always" "never" ]
  }

  # Delete workloads
  export extern "kubectl-kai delete" [
    --queue(-q): string       # Workloads of a queue, and of those below it
    --status: string@"nu-complete kubectl-kai delete status" # Workloads in one of these states, such as pending,running
    --kind: string            # Workloads of one kind, such as pytorch or rayjob
    --selector(-l): string    # Workloads with these labels, such as team=vision,tier!=dev
    --field-selector: string  # Workloads whose objects have these fields, such as spec.suspend=true,metadata.name!=a
    --since: string           # Workloads made since then: 2h ago, or a time such as 2026-01-31 or 2026-01-31T12:00:00Z
    --older: string           # Workloads made before then: 7d ago, or a time
    --until: string           # Workloads made before then: 7d ago, or a time
    --owner: string           # Workloads of a user, by the label or annotation user (--user is the kubeconfig's)
    --mine                    # My workloads: those of the user that the server takes me for
    --yes(-y)                 # Ask nothing
    --dry-run                 # Only say what would be deleted
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai delete color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
    ...names: string          # Names of workloads, kind/name, or patterns with *
  ]

  def "nu-complete kubectl-kai list status" [] {
    [ "waiting" "pending" "starting" "running" "degraded" "suspended" "deleting" "succeeded" "failed" ]
  }

  def "nu-complete kubectl-kai list group_by" [] {
    [ "queue" "user" "kind" ]
  }

  def "nu-complete kubectl-kai list color" [] {
    [ "auto" "always" "never" ]
  }

  # Workloads with their state and the reason why they wait
  export extern "kubectl-kai list" [
    --queue(-q): string       # Workloads of a queue, and of those below it
    --status: string@"nu-complete kubectl-kai list status" # Workloads in one of these states, such as pending,running
    --kind: string            # Workloads of one kind, such as pytorch or rayjob
    --selector(-l): string    # Workloads with these labels, such as team=vision,tier!=dev
    --field-selector: string  # Workloads whose objects have these fields, such as spec.suspend=true,metadata.name!=a
    --since: string           # Workloads made since then: 2h ago, or a time such as 2026-01-31 or 2026-01-31T12:00:00Z
    --older: string           # Workloads made before then: 7d ago, or a time
    --until: string           # Workloads made before then: 7d ago, or a time
    --owner: string           # Workloads of a user, by the label or annotation user (--user is the kubeconfig's)
    --mine                    # My workloads: those of the user that the server takes me for
    --group-by: string@"nu-complete kubectl-kai list group_by" # A line for each queue, user or kind instead of each workload
    --pods                    # A line for each pod instead of each workload
    --eta                     # When what waits will start, as a range; reads the whole cluster
    --jq: string              # Print what a jq expression makes of the JSON, texts without quotes
    --sort-by: string         # Sort by a column, or by a field of the JSON such as .created; with - in front, downwards
    --limit: string           # Print the first ones only
    --no-headers              # Print no header line
    --show-labels             # Add a column with the labels
    --watch(-w)               # Go on, and print what changes below
    --live                    # Go on, and draw the whole anew in place; needs a terminal
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai list color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help (see more with '--help')
    ...names: string          # Names, or patterns with *; all workloads without any
  ]

  def "nu-complete kubectl-kai describe color" [] {
    [ "auto" "always" "never" ]
  }

  # One workload on one screen
  export extern "kubectl-kai describe" [
    --events: string          # How many events to show
    --jq: string              # Print what a jq expression makes of the JSON, texts without quotes
    --watch(-w)               # Go on, and print what changes below
    --live                    # Go on, and draw the whole anew in place; needs a terminal
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai describe color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
    name: string              # Name of the workload, kind/name, or the name of its pod group or of one of its pods
  ]

  def "nu-complete kubectl-kai explain color" [] {
    [ "auto" "always" "never" ]
  }

  # Why it waits, who evicted it, why this share; and what a number means
  export extern "kubectl-kai explain" [
    --order                   # Show in which order queues and their workloads have their turns
    --jq: string              # Print what a jq expression makes of the JSON, texts without quotes
    --sort-by: string         # Sort by a column, or by a field of the JSON such as .created; with - in front, downwards
    --limit: string           # Print the first ones only
    --no-headers              # Print no header line
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai explain color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
    name?: string             # A workload, kind/name, the name of a pod or a pod group; queue/NAME, node/NAME, or a number as KAI1203
  ]

  def "nu-complete kubectl-kai queues color" [] {
    [ "auto" "always" "never" ]
  }

  # Queue tree, quotas, use; create, set, hold, move, delete
  export extern "kubectl-kai queues" [
    --flat                    # A flat list with all amounts, no tree
    --jq: string              # Print what a jq expression makes of the JSON, texts without quotes
    --sort-by: string         # Sort by a column, or by a field of the JSON such as .created; with - in front, downwards
    --limit: string           # Print the first ones only
    --no-headers              # Print no header line
    --show-labels             # Add a column with the labels
    --watch(-w)               # Go on, and print what changes below
    --live                    # Go on, and draw the whole anew in place; needs a terminal
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai queues color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
    ...names: string          # Only these queues and those below them
  ]

  def "nu-complete kubectl-kai queues create color" [] {
    [ "auto" "always" "never" ]
  }

  # Create a queue
  export extern "kubectl-kai queues create" [
    --parent: string          # Queue above it
    --gpu-quota: string       # GPUs that it is owed
    --gpu-limit: string       # GPUs that it may use at most
    --gpu-weight: string      # Its part of GPUs that are left over, against its siblings
    --cpu-quota: string       # CPU cores that it is owed, such as 64 or 500m
    --cpu-limit: string       # CPU cores that it may use at most
    --cpu-weight: string      # Its part of CPU that is left over
    --memory-quota: string    # Memory that it is owed, such as 512Gi
    --memory-limit: string    # Memory that it may use at most
    --memory-weight: string   # Its part of memory that is left over
    --priority: string        # Queues with a higher number come first
    --display-name: string    # Name for people
    --preempt-min-runtime: string # Run time before others of the same queue may preempt, such as 30m
    --reclaim-min-runtime: string # Run time before other queues may reclaim, such as 30m
    --yes(-y)                 # Ask nothing
    --dry-run: string         # Create nothing: none, client or server
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai queues create color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
    name: string              # Name of the queue
  ]

  def "nu-complete kubectl-kai queues set color" [] {
    [ "auto" "always" "never" ]
  }

  # Change quota, limit, weight or priority of a queue
  export extern "kubectl-kai queues set" [
    --gpu-quota: string       # GPUs that it is owed
    --gpu-limit: string       # GPUs that it may use at most
    --gpu-weight: string      # Its part of GPUs that are left over, against its siblings
    --cpu-quota: string       # CPU cores that it is owed, such as 64 or 500m
    --cpu-limit: string       # CPU cores that it may use at most
    --cpu-weight: string      # Its part of CPU that is left over
    --memory-quota: string    # Memory that it is owed, such as 512Gi
    --memory-limit: string    # Memory that it may use at most
    --memory-weight: string   # Its part of memory that is left over
    --priority: string        # Queues with a higher number come first
    --display-name: string    # Name for people
    --preempt-min-runtime: string # Run time before others of the same queue may preempt, such as 30m
    --reclaim-min-runtime: string # Run time before other queues may reclaim, such as 30m
    --yes(-y)                 # Ask nothing
    --dry-run: string         # Only show the plan (client), or let the server check it too (server)
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai queues set color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
    name: string              # Name of the queue
  ]

  def "nu-complete kubectl-kai queues delete color" [] {
    [ "auto" "always" "never" ]
  }

  # Delete queues without children and without work
  export extern "kubectl-kai queues delete" [
    --force                   # Delete queues that still have work: it stays pending until its queue is back
    --yes(-y)                 # Ask nothing
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai queues delete color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
    ...names: string          # Names of queues
  ]

  def "nu-complete kubectl-kai queues hold color" [] {
    [ "auto" "always" "never" ]
  }

  # Let nothing new start in queues; what runs goes on
  export extern "kubectl-kai queues hold" [
    --yes(-y)                 # Ask nothing
    --dry-run: string         # Only show the plan (client), or let the server check it too (server)
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai queues hold color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
    ...names: string          # Names of queues
  ]

  def "nu-complete kubectl-kai queues release color" [] {
    [ "auto" "always" "never" ]
  }

  # Let held queues go on
  export extern "kubectl-kai queues release" [
    --yes(-y)                 # Ask nothing
    --dry-run: string         # Only show the plan (client), or let the server check it too (server)
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai queues release color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
    ...names: string          # Names of queues
  ]

  def "nu-complete kubectl-kai queues move color" [] {
    [ "auto" "always" "never" ]
  }

  # Put a queue below another one
  export extern "kubectl-kai queues move" [
    --parent: string          # Queue that it goes below
    --yes(-y)                 # Ask nothing
    --dry-run: string         # Only show the plan (client), or let the server check it too (server)
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai queues move color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
    name: string              # Name of the queue
  ]

  def "nu-complete kubectl-kai top what" [] {
    [ "gpus" "nodes" "queues" "workloads" ]
  }

  def "nu-complete kubectl-kai top color" [] {
    [ "auto" "always" "never" ]
  }

  # Every GPU, and who holds what of it
  export extern "kubectl-kai top" [
    --node: string            # Only this node, or those of a pattern with *, repeatable
    --queue(-q): string       # Only devices that work of this queue, or of those below it, holds
    --interactive(-i)         # Draw nodes, queues and what waits on the whole terminal, and follow; ? lists the keys
    --jq: string              # Print what a jq expression makes of the JSON, texts without quotes
    --sort-by: string         # Sort by a column, or by a field of the JSON such as .created; with - in front, downwards
    --limit: string           # Print the first ones only
    --no-headers              # Print no header line
    --show-labels             # Add a column with the labels
    --watch(-w)               # Go on, and print what changes below
    --live                    # Go on, and draw the whole anew in place; needs a terminal
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai top color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
    what?: string@"nu-complete kubectl-kai top what" # gpus: a line for each device; nodes, queues, workloads: a line for each of these
  ]

  def "nu-complete kubectl-kai history color" [] {
    [ "auto" "always" "never" ]
  }

  # What ran, waited and was evicted, by whom; GPU-hours
  export extern "kubectl-kai history" [
    --since: string           # From this day on: a date such as 2026-11-01, or how long ago; none for all
    --until: string           # Before this day, or up to so long ago; now unless given
    --queue(-q): string       # Only work of this queue, and of those below it
    --owner: string           # Only work of this user, or of a pattern with *
    --kind: string            # Only workloads of one kind, such as pytorch or rayjob
    --jq: string              # Print what a jq expression makes of the JSON, texts without quotes
    --sort-by: string         # Sort by a column, or by a field of the JSON such as .created; with - in front, downwards
    --limit: string           # Print the first ones only
    --no-headers              # Print no header line
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai history color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
    ...names: string          # Names, or patterns with *; all workloads without any
  ]

  def "nu-complete kubectl-kai history usage by" [] {
    [ "user" "queue" "kind" "gpu-type" "day" "namespace" "workload" ]
  }

  def "nu-complete kubectl-kai history usage color" [] {
    [ "auto" "always" "never" ]
  }

  # GPU-hours by user, queue, kind, type of GPU or day
  export extern "kubectl-kai history usage" [
    --by: string@"nu-complete kubectl-kai history usage by" # A line for each of these together: user, queue, kind, gpu-type, day, namespace, workload
    --price: string           # Price of a GPU-hour, for all or by type of GPU: gpu=2.5,NVIDIA-H100*=4
    --since: string           # From this day on: a date such as 2026-11-01, or how long ago; none for all
    --until: string           # Before this day, or up to so long ago; now unless given
    --queue(-q): string       # Only work of this queue, and of those below it
    --owner: string           # Only work of this user, or of a pattern with *
    --kind: string            # Only workloads of one kind, such as pytorch or rayjob
    --jq: string              # Print what a jq expression makes of the JSON, texts without quotes
    --sort-by: string         # Sort by a column, or by a field of the JSON such as .created; with - in front, downwards
    --limit: string           # Print the first ones only
    --no-headers              # Print no header line
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai history usage color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
    ...names: string          # Names of workloads, or patterns with *; all without any
  ]

  def "nu-complete kubectl-kai history evictions color" [] {
    [ "auto" "always" "never" ]
  }

  # Who evicted whom, and what it cost
  export extern "kubectl-kai history evictions" [
    --since: string           # From this day on: a date such as 2026-11-01, or how long ago; none for all
    --until: string           # Before this day, or up to so long ago; now unless given
    --queue(-q): string       # Only work of this queue, and of those below it
    --owner: string           # Only work of this user, or of a pattern with *
    --kind: string            # Only workloads of one kind, such as pytorch or rayjob
    --jq: string              # Print what a jq expression makes of the JSON, texts without quotes
    --sort-by: string         # Sort by a column, or by a field of the JSON such as .created; with - in front, downwards
    --limit: string           # Print the first ones only
    --no-headers              # Print no header line
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai history evictions color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
    ...names: string          # Names of workloads that were evicted, or patterns with *
  ]

  def "nu-complete kubectl-kai usage by" [] {
    [ "user" "queue" "kind" "gpu-type" "day" "namespace" "workload" ]
  }

  def "nu-complete kubectl-kai usage color" [] {
    [ "auto" "always" "never" ]
  }

  # GPU-hours by user, queue, kind, type of GPU or day
  export extern "kubectl-kai usage" [
    --by: string@"nu-complete kubectl-kai usage by" # A line for each of these together: user, queue, kind, gpu-type, day, namespace, workload
    --price: string           # Price of a GPU-hour, for all or by type of GPU: gpu=2.5,NVIDIA-H100*=4
    --since: string           # From this day on: a date such as 2026-11-01, or how long ago; none for all
    --until: string           # Before this day, or up to so long ago; now unless given
    --queue(-q): string       # Only work of this queue, and of those below it
    --owner: string           # Only work of this user, or of a pattern with *
    --kind: string            # Only workloads of one kind, such as pytorch or rayjob
    --jq: string              # Print what a jq expression makes of the JSON, texts without quotes
    --sort-by: string         # Sort by a column, or by a field of the JSON such as .created; with - in front, downwards
    --limit: string           # Print the first ones only
    --no-headers              # Print no header line
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai usage color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
    ...names: string          # Names of workloads, or patterns with *; all without any
  ]

  def "nu-complete kubectl-kai logs prefix" [] {
    [ "rank" "pod" "none" ]
  }

  def "nu-complete kubectl-kai logs color" [] {
    [ "auto" "always" "never" ]
  }

  # Logs of all ranks, merged
  export extern "kubectl-kai logs" [
    --follow(-f)              # Go on until the workload ends; the exit code tells how
    --rank: string            # Ranks, as 0,3 (the master is 0) or worker-0 or worker
    --tail: string            # Last lines of each rank only; -1 for all
    --grep: string            # Only lines that a regular expression matches; any of several
    --exclude: string         # No lines that a regular expression matches
    --errors                  # The rank that failed first, with the last lines that it wrote
    --max-streams: string     # Logs that are read at one time; more take turns
    --since: string           # Lines since a time ago, such as 10m
    --container(-c): string   # Container, when it is not the one that works
    --timestamps              # Show the time of each line
    --previous                # The container before its last restart
    --prefix: string@"nu-complete kubectl-kai logs prefix" # What stands before a line: rank, pod or none
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai logs color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
    name: string              # Name of the workload
  ]

  def "nu-complete kubectl-kai exec color" [] {
    [ "auto" "always" "never" ]
  }

  # Run a command or a shell in a rank
  export extern "kubectl-kai exec" [
    --rank: string            # Rank, as 0 (the master is 0) or worker-3; without it the first
    --all-ranks               # Run the command in every rank, and print their lines with the rank before each
    --container(-c): string   # Container, when it is not the one that works
    --stdin(-i)               # Hand stdin on to the command
    --tty(-t)                 # Give the command a terminal
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai exec color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
    name: string              # Name of the workload
  ]

  def "nu-complete kubectl-kai port-forward color" [] {
    [ "auto" "always" "never" ]
  }

  # Reach Jupyter, TensorBoard, the Ray dashboard
  export extern "kubectl-kai port-forward" [
    --rank: string            # Rank, as 0 (the master is 0) or worker-3; without it the first
    --address: string         # Address of this machine to listen on
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai port-forward color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
    name: string              # Name of the workload
    ...ports: string          # Ports, as 8888 or LOCAL:REMOTE (0 takes a free one); without any the port of its kind
  ]

  def "nu-complete kubectl-kai simulate preemptible" [] {
    [ "true" "false" ]
  }

  def "nu-complete kubectl-kai simulate color" [] {
    [ "auto" "always" "never" ]
  }

  # What if? For a job, a queue's quota, more nodes, a drained one; nothing is changed
  export extern "kubectl-kai simulate" [
    --add-node: string        # Nodes that come, as sandbox --nodes has them: 2xH100:8; repeatable
    --drain: string           # A node that is drained, repeatable
    --set: string             # QUEUE.gpu.quota=12, QUEUE.gpu.limit=-1, QUEUE.priority=200, workload/NAME.priority=build; repeatable
    --delete: string          # A workload that is deleted, repeatable
    --gpu-quota: string       # GPU quota of the queue that --queue names
    --gpu-limit: string       # GPU limit of the queue that --queue names; -1 is none
    --gpu-weight: string      # Weight for GPUs over quota of the queue that --queue names
    --snapshot: path          # A snapshot instead of the cluster
    --scenario: path          # A scenario file instead of the cluster
    --save: path              # Keep what was read of the cluster in a snapshot
    --shard: string           # The shard whose scheduler is meant
    --horizon: string         # How far to look for starts, such as 24h; 0 does not look
    --exit-code               # End with 6 when the work cannot start at once
    --jq: string              # Print what a jq expression makes of the JSON, texts without quotes
    --sort-by: string         # Sort by a column, or by a field of the JSON such as .created; with - in front, downwards
    --limit: string           # Print the first ones only
    --no-headers              # Print no header line
    --filename(-f): path      # Manifests to submit, of any kind: a file, a folder, an address on the web, or - for standard input; repeatable
    --sbatch: path            # Script for Slurm: its #SBATCH lines are flags, and each pod runs it; also as submit FILE.sbatch
    --recursive(-R)           # Read folders behind -f with all folders in them
    --template: string        # Template instead of the kind's: a name (config templates list) or a file
    --param(-p): string       # Parameter of the template, or of an Argo workflow, repeatable
    --image: string           # Container image
    --gpu(-g): string         # GPUs of each worker: 2, 0.5, 0.25x4 (a quarter of each of four), 8Gi, 8Gix2, mig:1g.10gb, H100:4; of other makers amd:2, gaudi:2, RESOURCE:2, and by DRA dra:CLASS:2
    --gpu-type: string        # Model of GPU, such as H100 or A100-SXM4-80GB
    --gpu-memory: string      # GPU memory of each worker on one shared device, such as 8Gi
    --mig: string             # MIG instance of each worker, or several: 1g.10gb, 1g.10gbx2
    --gpu-fraction-container: string # Container that gets the share of a GPU; the first one without it
    --cpu: string             # CPU of each worker, such as 4 or 500m
    --memory: string          # Memory of each worker, such as 64Gi
    --from: string            # Workload to submit again, as NAME or with the next number; other flags change it
    --shell                   # Run the command as a line for sh, with its && and $VARIABLES
    --port: string            # Port that the container listens on, as port-forward finds it; repeatable
    --run-as: string          # User, and group, that the containers run as (--user is the kubeconfig's)
    --rdma: string            # Devices for RDMA by the resource of their plugin, such as rdma/hca:1; memory may be locked then
    --mps                     # Share the GPU by MPS; needs a share: --gpu 0.5
    --env(-e): string         # Environment variable NAME=VALUE, or NAME to forward yours, repeatable
    --env-from: string        # Variables of all keys of secret/NAME or configmap/NAME, repeatable
    --secret: string          # Secret: its keys as variables, or as files under PATH, repeatable
    --configmap: string       # Config map: its keys as variables, or as files under PATH, repeatable
    --pull-secret: string     # Secret to pull the image with, repeatable
    --mount(-m): string       # Volume: pvc://CLAIM[/DIR]:/PATH[:ro], host:///DIR:/PATH, new://100Gi[,CLASS]:/PATH (of each pod), empty://10Gi:/PATH, or a name of mounts: in the configuration; repeatable
    --shm: string             # Shared memory of each pod under /dev/shm, such as 16Gi
    --workdir: directory      # Folder whose files the containers find in their working folder; .gitignore and .kaiignore are heeded
    --git: string             # Git repository that is cloned into the working folder
    --git-secret: string      # Secret for the repository: username and password, or ssh-privatekey
    --code-image: string      # Image of the container that unpacks or clones (default: the workload's own to unpack, alpine/git to clone)
    --queue(-q): string       # Queue to wait in
    --priority: string        # Priority class: train, build, inference, ...
    --preemptible: string@"nu-complete kubectl-kai simulate preemptible" # Whether others may take its GPUs: true (also without a value) or false
    --workers(-w): string     # Pods that work: N, or N..M where the framework can grow and shrink
    --min: string             # How many of the workers must start together (default: all)
    --min-per-role: string    # How many pods of a role must start together, such as worker=4, repeatable: pytorch, ray, jobset, trainjob
    --no-gang                 # Let each worker start alone
    --max-runtime: string     # Longest run, such as 12h
    --retries: string         # Retries after a failure
    --label(-l): string       # Label KEY=VALUE on the workload and its pods, repeatable
    --annotation: string      # Annotation KEY=VALUE on the workload, repeatable
    --force                   # Submit in spite of another scheduler in the manifest, a queue in which nothing can run, or nodes that are too small
    --topology: string        # Level of a topology within one domain of which all pods stay, such as rack; rack:preferred where others will do; TOPOLOGY=LEVEL where several have it
    --node-selector: string   # Label KEY=VALUE that nodes must have, repeatable
    --toleration: string      # Taint of nodes that is tolerated, KEY[=VALUE][:EFFECT], repeatable
    --node-pool: string       # Node pool; the shard of the scheduler that serves it places the pods
    --service-account: string # Service account that the pods run as
    --replicas: string        # Groups of so many workers each: jobset, lws
    --array: string           # Tasks of a job, each a pod with a number of its own: 100, 0-99, or 100%10 for ten at a time
    --schedule: string        # When a cronjob runs, such as '0 2 * * *'
    --time-zone: string       # Time zone of --schedule, such as Europe/Paris
    --ttl: string             # Delete it so long after its end, such as 1h
    --main-class: string      # Main class of a Spark application in a .jar
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai simulate color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
    ...names: string          # Kind (job, pytorch, ray, jobset, ...; see below) and name; without a kind it is a job
  ]

  def "nu-complete kubectl-kai sandbox color" [] {
    [ "auto" "always" "never" ]
  }

  # A whole cluster in this process: try it without one
  export extern "kubectl-kai sandbox" [
    --nodes: string           # Simulated nodes: COUNTxMODEL:GPUS[/MIG-PROFILE] or COUNTxcpu:CORES, comma-separated; none for none
    --rack-nodes: string      # Nodes in a rack
    --operators: string       # Stand-ins for workload operators: all, none, or names (core, ray, training, argo, notebook, jobset, lws, spark, trainer, scheduler, storage, dra)
    --attach: string          # Run only nodes and operators, against the cluster of this kubeconfig context
    --demo                    # Tell the product's story with real commands; ends with 0 when it came out as told
    --keep                    # Leave the cluster up after --demo; leave the nodes registered after --attach
    --pace: string            # Simulated seconds that pass in a second (1, with --demo 60)
    --port: string            # Port of the API server on 127.0.0.1; 0 picks a free one
    --limits                  # Print what the embedded API server leaves out
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai sandbox color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
  ]

  def "nu-complete kubectl-kai install components" [] {
    [ "crds" "rbac" "queues" "daemons" "monitoring" "flow-control" ]
  }

  def "nu-complete kubectl-kai install wait" [] {
    [ "true" "false" ]
  }

  def "nu-complete kubectl-kai install color" [] {
    [ "auto" "always" "never" ]
  }

  # Install, check or remove the scheduler
  export extern "kubectl-kai install" [
    --components: string@"nu-complete kubectl-kai install components" # Only these parts, comma-separated
    --without-daemons         # All but the Deployments: the daemons run elsewhere
    --monitoring              # Also what Prometheus' operator scrapes and alerts on, and dashboards for Grafana
    --flow-control            # Also seats of the API server for the daemons alone, which are taken from those of others
    --image: string           # Container image of both daemons; what runs keeps its own, else it is the published one
    --default-queue: string   # Queue to create below default-parent-queue; empty for none
    --yes(-y)                 # Do not ask
    --dry-run                 # Show what would change, and change nothing
    --wait: string@"nu-complete kubectl-kai install wait" # Wait until the daemons are ready
    --timeout: string         # Longest wait, as 90s or 5m
    --force-conflicts         # Take over fields that somebody else has set
    --adopt                   # Replace an existing KAI installation; its queues and workloads stay
    --image-archive: path     # Push the image in this archive to --registry, and install that one
    --registry: string        # Registry and repository that the cluster's nodes pull from; http:// in front means without TLS
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai install color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help (see more with '--help')
  ]

  def "nu-complete kubectl-kai install apply components" [] {
    [ "crds" "rbac" "queues" "daemons" "monitoring" "flow-control" ]
  }

  def "nu-complete kubectl-kai install apply wait" [] {
    [ "true" "false" ]
  }

  def "nu-complete kubectl-kai install apply color" [] {
    [ "auto" "always" "never" ]
  }

  # Show what would change, ask, apply, wait until it runs (the default)
  export extern "kubectl-kai install apply" [
    --components: string@"nu-complete kubectl-kai install apply components" # Only these parts, comma-separated
    --without-daemons         # All but the Deployments: the daemons run elsewhere
    --monitoring              # Also what Prometheus' operator scrapes and alerts on, and dashboards for Grafana
    --flow-control            # Also seats of the API server for the daemons alone, which are taken from those of others
    --image: string           # Container image of both daemons; what runs keeps its own, else it is the published one
    --default-queue: string   # Queue to create below default-parent-queue; empty for none
    --yes(-y)                 # Do not ask
    --dry-run                 # Show what would change, and change nothing
    --wait: string@"nu-complete kubectl-kai install apply wait" # Wait until the daemons are ready
    --timeout: string         # Longest wait, as 90s or 5m
    --force-conflicts         # Take over fields that somebody else has set
    --adopt                   # Replace an existing KAI installation; its queues and workloads stay
    --image-archive: path     # Push the image in this archive to --registry, and install that one
    --registry: string        # Registry and repository that the cluster's nodes pull from; http:// in front means without TLS
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai install apply color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help (see more with '--help')
  ]

  def "nu-complete kubectl-kai install render components" [] {
    [ "crds" "rbac" "queues" "daemons" "monitoring" "flow-control" ]
  }

  def "nu-complete kubectl-kai install render color" [] {
    [ "auto" "always" "never" ]
  }

  # Print the manifests, to be kept in git
  export extern "kubectl-kai install render" [
    --components: string@"nu-complete kubectl-kai install render components" # Only these parts, comma-separated
    --without-daemons         # All but the Deployments: the daemons run elsewhere
    --monitoring              # Also what Prometheus' operator scrapes and alerts on, and dashboards for Grafana
    --flow-control            # Also seats of the API server for the daemons alone, which are taken from those of others
    --image: string           # Container image of both daemons; what runs keeps its own, else it is the published one
    --default-queue: string   # Queue to create below default-parent-queue; empty for none
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai install render color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help (see more with '--help')
  ]

  def "nu-complete kubectl-kai install status color" [] {
    [ "auto" "always" "never" ]
  }

  # What is there, and whether it is healthy (exit code 10 when not)
  export extern "kubectl-kai install status" [
    --jq: string              # Print what a jq expression makes of the JSON, texts without quotes
    --sort-by: string         # Sort by a column, or by a field of the JSON such as .created; with - in front, downwards
    --limit: string           # Print the first ones only
    --no-headers              # Print no header line
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai install status color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
  ]

  def "nu-complete kubectl-kai install remove color" [] {
    [ "auto" "always" "never" ]
  }

  # Take the scheduler out; queues and workloads stay unless --crds
  export extern "kubectl-kai install remove" [
    --yes(-y)                 # Do not ask
    --dry-run                 # Show what would go and what stays, and change nothing
    --force                   # Also while workloads run; what they use stays
    --in-use                  # Also priority classes that pods and pod groups name, and namespaces with objects of others in them
    --keep-crds               # Leave the custom resource definitions, and with them queues and pod groups (the default)
    --crds                    # Also the custom resource definitions, and with them all queues and pod groups
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai install remove color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
  ]

  def "nu-complete kubectl-kai install release wait" [] {
    [ "true" "false" ]
  }

  def "nu-complete kubectl-kai install release color" [] {
    [ "auto" "always" "never" ]
  }

  # Give back to KAI what --adopt took over; queues, workloads and reservations stay
  export extern "kubectl-kai install release" [
    --yes(-y)                 # Do not ask
    --dry-run                 # Show what would go and what would come back, and change nothing
    --wait: string@"nu-complete kubectl-kai install release wait" # Wait until KAI's Deployments are ready
    --timeout: string         # Longest wait, as 90s or 5m
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai install release color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
  ]

  def "nu-complete kubectl-kai doctor color" [] {
    [ "auto" "always" "never" ]
  }

  # Find out what is broken, and how to repair it
  export extern "kubectl-kai doctor" [
    --bundle: path            # Write what a report of a fault needs into a new file, gzipped JSON without environment and arguments
    --redact                  # In the bundle, put stand-ins for names, and leave annotations and messages out
    --all                     # Show the checks that found nothing, too
    --jq: string              # Print what a jq expression makes of the JSON, texts without quotes
    --sort-by: string         # Sort by a column, or by a field of the JSON such as .created; with - in front, downwards
    --limit: string           # Print the first ones only
    --no-headers              # Print no header line
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai doctor color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
    ...checks: string         # Only these: an area as queues, or a check as nodes/plugin
  ]

  def "nu-complete kubectl-kai snapshot color" [] {
    [ "auto" "always" "never" ]
  }

  # What the scheduler sees of the cluster, in a file; and what it would do next
  export extern "kubectl-kai snapshot" [
    --shard: string           # The shard whose scheduler is meant
    --force                   # Replace the file if there is one
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai snapshot color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
    file: string              # Where to write it; - is stdout
  ]

  def "nu-complete kubectl-kai snapshot show color" [] {
    [ "auto" "always" "never" ]
  }

  # What a snapshot holds, and what the scheduler would do next
  export extern "kubectl-kai snapshot show" [
    --jq: string              # Print what a jq expression makes of the JSON, texts without quotes
    --sort-by: string         # Sort by a column, or by a field of the JSON such as .created; with - in front, downwards
    --limit: string           # Print the first ones only
    --no-headers              # Print no header line
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai snapshot show color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
    file: string              # A file that kubectl kai snapshot or KAI wrote
  ]

  def "nu-complete kubectl-kai completion color" [] {
    [ "auto" "always" "never" ]
  }

  # Shell completion, also through kubectl
  export extern "kubectl-kai completion" [
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai completion color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
  ]

  def "nu-complete kubectl-kai completion bash color" [] {
    [ "auto" "always" "never" ]
  }

  # Print the script for bash
  export extern "kubectl-kai completion bash" [
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai completion bash color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
  ]

  def "nu-complete kubectl-kai completion zsh color" [] {
    [ "auto" "always" "never" ]
  }

  # Print the script for zsh
  export extern "kubectl-kai completion zsh" [
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai completion zsh color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
  ]

  def "nu-complete kubectl-kai completion fish color" [] {
    [ "auto" "always" "never" ]
  }

  # Print the script for fish
  export extern "kubectl-kai completion fish" [
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai completion fish color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
  ]

  def "nu-complete kubectl-kai completion powershell color" [] {
    [ "auto" "always" "never" ]
  }

  # Print the script for PowerShell
  export extern "kubectl-kai completion powershell" [
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai completion powershell color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
  ]

  def "nu-complete kubectl-kai completion elvish color" [] {
    [ "auto" "always" "never" ]
  }

  # Print the script for elvish
  export extern "kubectl-kai completion elvish" [
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai completion elvish color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
  ]

  def "nu-complete kubectl-kai completion nushell color" [] {
    [ "auto" "always" "never" ]
  }

  # Print the script for nushell
  export extern "kubectl-kai completion nushell" [
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai completion nushell color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
  ]

  def "nu-complete kubectl-kai completion install color" [] {
    [ "auto" "always" "never" ]
  }

  # Make the TAB key work behind kubectl kai: link kubectl_complete-kai to this program
  export extern "kubectl-kai completion install" [
    --shim-dir: path          # Folder for the link; it has to be in PATH
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai completion install color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
  ]

  def "nu-complete kubectl-kai completion uninstall color" [] {
    [ "auto" "always" "never" ]
  }

  # Remove the link
  export extern "kubectl-kai completion uninstall" [
    --shim-dir: path          # Folder of the link
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai completion uninstall color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
  ]

  def "nu-complete kubectl-kai config color" [] {
    [ "auto" "always" "never" ]
  }

  # Defaults, and where each value came from
  export extern "kubectl-kai config" [
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai config color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
  ]

  def "nu-complete kubectl-kai config view color" [] {
    [ "auto" "always" "never" ]
  }

  # Every setting that has a value
  export extern "kubectl-kai config view" [
    --show-origin             # Say where each value was set, and what it hides
    --jq: string              # Print what a jq expression makes of the JSON, texts without quotes
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai config view color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
  ]

  def "nu-complete kubectl-kai config get color" [] {
    [ "auto" "always" "never" ]
  }

  # One value
  export extern "kubectl-kai config get" [
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai config get color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
    key: string               # Name of the setting, such as queue
  ]

  def "nu-complete kubectl-kai config set scope" [] {
    [ "user" "project" ]
  }

  def "nu-complete kubectl-kai config set color" [] {
    [ "auto" "always" "never" ]
  }

  # Write a value into a file
  export extern "kubectl-kai config set" [
    --scope: string@"nu-complete kubectl-kai config set scope" # Which file
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai config set color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
    key: string               # Name of the setting, such as queue
    value: string             # Its value
  ]

  def "nu-complete kubectl-kai config unset scope" [] {
    [ "user" "project" ]
  }

  def "nu-complete kubectl-kai config unset color" [] {
    [ "auto" "always" "never" ]
  }

  # Remove a value from a file
  export extern "kubectl-kai config unset" [
    --scope: string@"nu-complete kubectl-kai config unset scope" # Which file
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai config unset color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
    key: string               # Name of the setting, such as queue
  ]

  def "nu-complete kubectl-kai config path color" [] {
    [ "auto" "always" "never" ]
  }

  # The files that are read, the first wins
  export extern "kubectl-kai config path" [
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai config path color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
  ]

  def "nu-complete kubectl-kai config templates color" [] {
    [ "auto" "always" "never" ]
  }

  # Templates of submit: list, show, save, delete
  export extern "kubectl-kai config templates" [
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai config templates color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
  ]

  def "nu-complete kubectl-kai config templates list color" [] {
    [ "auto" "always" "never" ]
  }

  # Every template with its parameters
  export extern "kubectl-kai config templates list" [
    --jq: string              # Print what a jq expression makes of the JSON, texts without quotes
    --sort-by: string         # Sort by a column, or by a field of the JSON such as .created; with - in front, downwards
    --limit: string           # Print the first ones only
    --no-headers              # Print no header line
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai config templates list color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
  ]

  def "nu-complete kubectl-kai config templates show color" [] {
    [ "auto" "always" "never" ]
  }

  # The text of one
  export extern "kubectl-kai config templates show" [
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai config templates show color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
    name: string              # Name of the template, or a file
  ]

  def "nu-complete kubectl-kai config templates save color" [] {
    [ "auto" "always" "never" ]
  }

  # Keep a file as a template
  export extern "kubectl-kai config templates save" [
    --filename(-f): path      # File with the template; - is standard input
    --to: string              # Folder, or configmap://NAMESPACE/NAME (default: your own folder)
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai config templates save color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
    name: string              # Name of the template
  ]

  def "nu-complete kubectl-kai config templates delete color" [] {
    [ "auto" "always" "never" ]
  }

  # Delete a template that was kept
  export extern "kubectl-kai config templates delete" [
    --yes(-y)                 # Ask nothing
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai config templates delete color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
    name: string              # Name of the template
  ]

  def "nu-complete kubectl-kai version color" [] {
    [ "auto" "always" "never" ]
  }

  # Client and scheduler versions
  export extern "kubectl-kai version" [
    --client                  # Ask no server
    --jq: string              # Print what a jq expression makes of the JSON, texts without quotes
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai version color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
  ]

  def "nu-complete kubectl-kai help color" [] {
    [ "auto" "always" "never" ]
  }

  # The page of a command or of a topic
  export extern "kubectl-kai help" [
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai help color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
    ...words: string          # A command, a topic, or schema list
  ]

  def "nu-complete kubectl-kai options color" [] {
    [ "auto" "always" "never" ]
  }

  # Connection flags that every command takes
  export extern "kubectl-kai options" [
    --namespace(-n): string   # Namespace to work in
    --all-namespaces(-A)      # All namespaces
    --context: string         # Kubeconfig context
    --kubeconfig: path        # Kubeconfig file
    --output(-o): string      # table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    --color: string@"nu-complete kubectl-kai options color" # When to colour: auto, always, never
    --ascii                   # Draw bars and trees with ASCII characters only
    --quiet                   # Print data and errors only
    --verbose(-v)             # Log each request on stderr; twice, also what libraries do
    --cluster: string         # Kubeconfig cluster
    --user: string            # Kubeconfig user
    --server(-s): string      # Address of the API server
    --token: string           # Bearer token
    --as: string              # User to impersonate
    --as-group: string        # Group to impersonate, repeatable
    --certificate-authority: path # Certificate authority of the API server
    --insecure-skip-tls-verify # Do not check the certificate of the API server
    --tls-server-name: string # Name expected in the certificate of the API server
    --request-timeout: string # Longest wait for one request, as 5s or 1m
    --cache-dir: directory    # Folder for the completion cache
    --help(-h)                # Print help
  ]

}

export use completions *
