import { SondeError } from '@sonde/sdk'
import { messageOf, printable, sondeCommand } from '@sonde/sdk/internal'
import { Command, CommanderError, Option } from 'commander'
import { agentAddress } from './commands/agent-address.ts'
import type { AutoscaleFlags } from './commands/autoscale.ts'
import type { BacktestFlags } from './commands/backtest/backtest.ts'
import type { ManifestsFlags } from './commands/manifests.ts'
import type { PsFlags } from './commands/ps/ps.ts'
import type { ReadFlags } from './commands/read/options.ts'
import type { AddTokenOptions } from './commands/tokens.ts'
import { withTracebackFlags } from './commands/traceback/flags.ts'
import { untilSignal } from './commands/until-signal.ts'
import { ConfigError } from './config/config-error.ts'
import type { Loaded } from './config/load.ts'
import { type Flags, withCommonFlags, withSimulateFlags } from './flags.ts'
import { VERSION } from './version.ts'

/** Exit codes: success, failure, and wrong arguments or configuration. See `docs/cli.md`. */
const EXIT = { ok: 0, failed: 1, usage: 2 } as const

/** The past of `up --only-simulated`, whose page would have nothing to show otherwise. */
const USUAL_PAST = '1h'

/** See `load-for.ts`, which loads the schemas of all rooms. Commands without configuration start in half the time. */
async function loadFor(flags: Flags, listener?: readonly string[]): Promise<Loaded> {
  return (await import('./load-for.ts')).loadFor(flags, listener)
}

/** The same, after a check of the folders and files that the configuration names. */
async function loadChecked(flags: Flags): Promise<Loaded> {
  const { checkPlaces } = await import('./config/places.ts')
  return checkPlaces(await loadFor(flags))
}

/** Flags of `check` alone. */
interface CheckFlags {
  readonly probe?: boolean
  readonly tryDestinations?: boolean
  readonly repair?: boolean
}

/** Flags of `explain` alone. */
interface ExplainOnly {
  readonly json?: boolean
  readonly selfTest?: string
  readonly acceptTaint?: boolean
}

const program = new Command('sonde')
  .description('Watches the hardware under AI workloads: GPUs, NICs, PCIe, hosts.')
  .version(VERSION)
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(`${oneLine(text)}\n`) })

const repeatable = (value: string, given: readonly string[] = []) => [...given, value]

/** After a wrong word or option, the command that lists what is allowed. */
function withHelpAfterErrors(command: Command, words: string): void {
  command.showHelpAfterError(`sonde: to see what is allowed: ${words} --help`)
  for (const below of command.commands) withHelpAfterErrors(below, `${words} ${below.name()}`)
}

/** Refuses an unknown command. Commander itself answers `sonde bogus --help` with the general help. */
function refuseUnknown(command: Command, [word, ...rest]: readonly string[]): void {
  if (command.commands.length === 0 || word === undefined || word.startsWith('-')) return
  const found = word === 'help' ? command : command.commands.find((one) => one.name() === word)
  if (found === undefined) command.error(`error: unknown command '${word}'`, { exitCode: EXIT.usage })
  refuseUnknown(found, rest)
}

/** Formats an error of Commander as one line like all other errors. */
function oneLine(text: string): string {
  return text
    .trimEnd()
    .replace(/^error: /, 'sonde: ')
    .replaceAll('\n', ' ')
}

withSimulateFlags(withCommonFlags(program.command('up').description('agent, store and page in one process')))
  .option('--simulate-past <time>', 'fill an empty history with that of the simulated node: 1h, 0 for none')
  .action(async (flags: Flags) => {
    const { simulatePast = flags.onlySimulated === true ? USUAL_PAST : undefined, ...others } = flags
    const loaded = await loadChecked({ ...others, ...(simulatePast !== undefined && { simulatePast }) })
    process.exit(await untilSignal((await import('./commands/up.ts')).runUp(loaded)))
  })

withSimulateFlags(
  withCommonFlags(program.command('agent').description('sources, /metrics and the API of this node')),
).action(async (flags: Flags) => {
  const loaded = await loadChecked(flags)
  process.exit(await untilSignal((await import('./commands/agent.ts')).runAgent(loaded)))
})

program
  .command('console')
  .summary('the page and the API over agents, a Prometheus, or both')
  .description(
    'Serves the page and the API over the agents in console.agents, over any server with the HTTP API of Prometheus, or over both. Reads no hardware, and keeps no history.',
  )
  .option('--prometheus <url>', 'where it is: http://HOST:9090')
  .option('--config <file>', 'configuration file (YAML)')
  .option('--listen <host:port>', 'where to listen: 0.0.0.0:9395 for all; :9395 keeps to loopback')
  .option('--log-level <level>', 'fatal, error, warn, info, debug or trace')
  .action(async (flags: Flags) => {
    const loaded = await loadFor(flags, ['console'])
    process.exit(await untilSignal((await import('./commands/console.ts')).runConsole(loaded)))
  })

withSimulateFlags(
  withCommonFlags(
    program
      .command('config')
      .summary('the configuration, and the origin of each value')
      .description('print the configuration and the origin of each value'),
  ),
)
  .option('--schema', 'print the JSON Schema of the file, for editors')
  .action(async ({ schema, ...flags }: Flags & { schema?: boolean }) => {
    if (schema === true) {
      const { jsonSchema } = await import('./config/json-schema.ts')
      console.log(JSON.stringify(jsonSchema(), null, 2))
    } else {
      const { printConfig } = await import('./commands/config.ts')
      console.log(printConfig(await loadFor(flags)))
    }
  })

withSimulateFlags(
  withCommonFlags(
    program
      .command('check')
      .argument('[queue]')
      .summary('check configuration, listener, sources, queues')
      .description(
        'Checks configuration, listeners, folders, destinations, traceback, history and sources, or the folder of a queue. Without options it changes nothing, loads no library of a vendor, and connects nowhere.',
      ),
  ),
)
  .option('--probe', 'load the libraries of vendors, and look for devices')
  .option('--try-destinations', 'connect to each destination once; sends no record')
  .option('--repair', 'repair the queue; foreign files are set aside')
  .action(async (queue: string | undefined, given: Flags & CheckFlags) => {
    const { probe, tryDestinations, repair = false, ...flags } = given
    if (queue !== undefined) {
      const { checkQueueFolder } = await import('./commands/check-queue.ts')
      process.exitCode = await checkQueueFolder(queue, { repair })
      return
    }
    if (repair) throw new CommanderError(EXIT.usage, 'sonde.queue', 'sonde: --repair needs the folder of a queue')
    const { checkNode } = await import('./commands/check.ts')
    const options = { loadsLibraries: probe === true, triesDestinations: tryDestinations === true }
    process.exitCode = await checkNode(await loadChecked(flags), options)
  })

withCommonFlags(
  program
    .command('explain')
    .summary('why a value is missing or a rule silent')
    .description('why a value is missing or a rule silent: file, driver, permission, link, traffic')
    .argument('[name]', 'a device, metric, source, NAMESPACE/POD, rule or traceback; without: every source'),
)
  .option('--json', 'print the chains as JSON')
  .option('--self-test <library>', 'test doca or nvml on the hardware of this node, and write a report')
  .option('--accept-taint', 'with --self-test doca: also checks that taint the kernel until the next boot')
  .action(async (name: string | undefined, { json, selfTest, acceptTaint, ...flags }: Flags & ExplainOnly) => {
    if (selfTest !== undefined) {
      const { runSelfTestCommand } = await import('./commands/self-test.ts')
      process.exitCode = await runSelfTestCommand(await loadFor(flags), { selfTest, acceptTaint: acceptTaint === true })
      return
    }
    const { runExplain } = await import('./commands/explain.ts')
    // Without `checkPlaces`: this command may have to explain a missing folder.
    process.exitCode = await runExplain(name ?? '', await loadFor(flags), json === true ? { json } : {})
  })

program
  .command('ps')
  .summary('GPU pods and the use of their GPUs')
  .description('Prints the GPU pods that an agent knows, what their GPUs do, and why a number is missing.')
  .option('--app <name>', 'pods of this app alone')
  .option('--json', 'print the answer of the agent as JSON')
  .option('--listen <host:port>', 'where the agent listens; default: as the configuration says')
  .option('--url <address>', 'the same as an address: http://127.0.0.1:9394')
  .option('--prometheus <url>', 'a Prometheus-compatible server instead of an agent')
  .option('--config <file>', 'configuration file (YAML)')
  .action(async ({ config, listen, ...flags }: PsFlags & Pick<Flags, 'config' | 'listen'>) => {
    const { runPs } = await import('./commands/ps/ps.ts')
    const given = { ...(config !== undefined && { config }), ...(listen !== undefined && { listen }) }
    process.exitCode = await runPs(flags, async () => agentAddress(await loadFor(given)))
  })

const tokens = program
  .command('tokens')
  .summary('who may use the page and the API from elsewhere')
  .description('Adds, lists and removes the tokens of logins. Servers that run see each change at once.')
const withDataFlags = (command: Command) =>
  command
    .option('--config <file>', 'configuration file (YAML)')
    .option('--data-dir <dir>', 'the data folder of the server')

withDataFlags(tokens.command('add').description('make a token, and print it').argument('<name>', 'who uses it'))
  .addOption(
    new Option('--role <role>', 'look (viewer), change (operator), or see the log of changes, too (admin)')
      .choices(['viewer', 'operator', 'admin'])
      .makeOptionMandatory(),
  )
  .option('--expires <time>', '12h, 90d or never', '90d')
  .option('--from <file>', 'the token of another server, in place of a new one')
  .action(async (name: string, { role, expires, from, ...flags }: Flags & AddTokenOptions) => {
    const options = { role, expires, ...(from !== undefined && { from }) }
    await (await import('./commands/tokens.ts')).addToken(await loadFor(flags), name, options)
  })
withDataFlags(tokens.command('list').description('names, roles and ends of all tokens')).action(async (flags: Flags) =>
  (await import('./commands/tokens.ts')).listTokens(await loadFor(flags)),
)
withDataFlags(tokens.command('remove').description('end a token and its sessions').argument('<name>')).action(
  async (name: string, flags: Flags) => (await import('./commands/tokens.ts')).removeToken(await loadFor(flags), name),
)

const params = program
  .command('params')
  .summary('settings that people change while servers run')
  .description('Shows and changes parameters. Servers that run take each change within a second.')

withDataFlags(params.command('get').description('values, of all or some').argument('[name...]')).action(
  async (names: string[], flags: Flags) =>
    (await import('./commands/params.ts')).printParams(await loadFor(flags), names),
)
withDataFlags(params.command('list').description('every parameter: value, origin, allowed values, purpose')).action(
  async (flags: Flags) => (await import('./commands/params.ts')).listParams(await loadFor(flags)),
)
withDataFlags(
  params
    .command('set')
    .description('change some, all or none')
    .argument('<name=value...>', 'NAME= gives the default back'),
)
  .option('--force', 'keep unknown names too, and outrank the configuration file')
  .action(async (pairs: string[], { force, ...flags }: Flags & { force?: boolean }) =>
    (await import('./commands/params.ts')).setParams(await loadFor(flags), pairs, force === true),
  )
withDataFlags(params.command('history').description('who changed what, and when')).action(async (flags: Flags) =>
  (await import('./commands/params.ts')).printHistory(await loadFor(flags)),
)
withDataFlags(params.command('undo').description('take the last change back')).action(async (flags: Flags) =>
  (await import('./commands/params.ts')).undoParams(await loadFor(flags)),
)
const manifests = program
  .command('manifests')
  .summary('objects of Kubernetes: agent, console, alerts')
  .description('Prints the objects of the Helm chart for kubectl apply. Needs no Helm and no cluster.')
  .option('--values <file>', 'values of the chart (YAML); may repeat, later files win', repeatable)
  .option('--set <key=value>', 'one value, such as console.enabled=true; may repeat', repeatable)
  .option('--namespace <name>', 'namespace of the objects', 'sonde')
  .option('--name <name>', 'name of the release, with which names of objects begin', 'sonde')
  .action(async (flags: ManifestsFlags) => (await import('./commands/manifests.ts')).printManifests(flags))
withDataFlags(
  manifests
    .command('gpu-stack')
    .description('Prints values, scrape jobs and commands for device plugin, dcgm-exporter and Prometheus.'),
)
  .option('--dir <dir>', 'write the files into this folder')
  .action(async ({ dir, ...flags }: Flags & { dir?: string }) =>
    (await import('./commands/manifests.ts')).writeGpuStack(await loadFor(flags), dir),
  )
withDataFlags(
  manifests
    .command('autoscale')
    .description('Prints ScaledObjects of KEDA for kubernetes.autoscale. Writes nothing to the cluster.'),
)
  .option('--only <namespace/service>', 'this ScaledObject alone; may repeat', repeatable)
  .option('--check <url>', 'compare with those of this API server, such as that of kubectl proxy')
  .action(async (flags: Flags & AutoscaleFlags) =>
    (await import('./commands/autoscale.ts')).runAutoscale(await loadFor(flags), flags),
  )

/** The folder in which `sonde up` keeps its history, by the configuration. */
async function usualStore(): Promise<string> {
  const { storePath } = await import('./config/store-path.ts')
  return storePath((await loadFor({})).config.store)
}

program
  .command('read')
  .summary('print or verify records of files and store')
  .description('Prints, sums up or verifies files of records (*.bin of folders), or a store.')
  .argument('[path...]')
  .option('--store [path]', 'what sonde up keeps, here or in another folder')
  .option('--format <name>', 'jsonl, csv or table; default: table on a terminal')
  .option('--int64 <how>', '64-bit integers in jsonl: digits (default) or string')
  .option('--source <id>', 'of this source; x* for all that begin so; may repeat', repeatable)
  .option('--tag <tag>', 'with this tag, likewise', repeatable)
  .option('--label <name=value>', 'with this label, likewise', repeatable)
  .option('--type <name>', 'of this type, likewise', repeatable)
  .option('--start <time>', 'from then on: 2026-11-21T14:03:07Z, or 10m ago')
  .option('--end <time>', 'before then')
  .option('--fset <file>', 'only the fields that a field set lets pass')
  .option('--cset <file>', 'only the metrics that a counter set lets pass')
  .option('--limit <count>', 'so many records at most')
  .option('--follow', 'go on with what comes, in later files too')
  .option('--stats', 'count records by source and type instead')
  .option('--verify', 'say how each file fares; alone looks at every payload')
  .option('--salvage', 'go on behind damage')
  .option('--schema-dir <dir>', 'with --salvage: where schema_*.json are, too')
  .option('--strict', 'exit code 1 for a cut-off last block too')
  .action(async (paths: string[], flags: ReadFlags) => {
    const { runRead } = await import('./commands/read/read.ts')
    process.exitCode = await runRead(paths, flags, usualStore)
  })

program
  .command('backtest')
  .summary('test rules of traceback on stored records')
  .description('Says which events rules would have had in files of records (*.bin of folders), or in a store.')
  .argument('[path...]')
  .option('--rules <file>', 'the rules, as for traceback', 'rules.json')
  .option('--store [path]', 'what sonde up keeps, here or in another folder')
  .option('--source <id>', 'records of this source; x* for all that begin so; may repeat', repeatable)
  .option('--label <name=value>', 'of sources with this label, likewise', repeatable)
  .option('--start <time>', 'from then on: 2026-11-21T14:03:07Z, or 10m ago')
  .option('--end <time>', 'before then')
  .option('--format <name>', 'table, jsonl or csv', 'table')
  .action(async (paths: string[], flags: BacktestFlags) => {
    const { runBacktest } = await import('./commands/backtest/backtest.ts')
    process.exitCode = await runBacktest(paths, flags, usualStore)
  })

withTracebackFlags(
  program
    .command('traceback')
    .summary('watch a NIC by rules, at full rate')
    .description('Watches one NIC by rules at full rate, and logs the samples around events.')
    .version(VERSION, '-v, --version', 'print the version'),
).action(async (flags: Readonly<Record<string, unknown>>) => {
  const { endDespiteCalls } = await import('@sonde/agent')
  const { runTracebackCommand } = await import('./commands/traceback/traceback.ts')
  const code = await runTracebackCommand(flags)
  process.exitCode = code
  endDespiteCalls(code)
})

for (const command of program.commands) {
  const trust = new Option('--trust-owner <uid>', 'as root: load files of this user too; may repeat')
  // The help of these already fills a screen, so the option is hidden there.
  command.addOption(trust.argParser(repeatable).hideHelp(['read', 'traceback'].includes(command.name())))
}
withHelpAfterErrors(program, sondeCommand())

program.hook('preAction', async (_program, command) => {
  const { trustOwner = [] } = command.opts<{ trustOwner?: readonly string[] }>()
  // See `loadFor`.
  if (trustOwner.length > 0 || process.env.SONDE_TRUST_OWNER !== undefined)
    (await import('./config/trust.ts')).trustOwners(trustOwner)
})

/** Inside a promise, so that all refusals end in the same way. */
async function runCommand(): Promise<void> {
  refuseUnknown(program, process.argv.slice(2))
  await program.parseAsync()
}

runCommand().catch((error: unknown) => {
  // Commander has already printed the error.
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? EXIT.ok : EXIT.usage)
  // A scenario may be valid and still not fit the node. Only the simulator can check that.
  const isUsage =
    error instanceof ConfigError || (error instanceof SondeError && /^(SIM_.*|PRM_VALUE)$/.test(error.code))
  for (const line of error instanceof ConfigError ? error.lines : [messageOf(error)])
    console.error(`sonde: ${printable(line)}`)
  process.exit(isUsage ? EXIT.usage : EXIT.failed)
})
