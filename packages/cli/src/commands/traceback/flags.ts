import { closest } from '@sonde/sdk/config'
import { isJsonObject, readGivenFile } from '@sonde/sdk/internal'
import { type Command, Option } from 'commander'
import { ConfigError } from '../../config/config-error.ts'
import { systemReason } from '../../config/file.ts'

/** The arguments of `sonde traceback`: text, or true for a flag. */
export type TracebackFlags = Readonly<Record<string, string | boolean | undefined>>

interface Flag {
  /** In the form of Commander: `-d, --device <id>`. */
  readonly spelling: string
  readonly help: string
  /** Left out of the help, which would be longer than a screen; `docs/traceback.md` has it. */
  readonly isHidden?: boolean
}

/** Each help fits a line of 80 columns, so that all fit one screen. */
const FLAGS: readonly Flag[] = [
  { spelling: '-d, --device <device>', help: 'PCIe address, NIC or interface, or file:SAMPLES' },
  { spelling: '--rules <file>', help: 'file of rules; default: rules.json' },
  { spelling: '--data-ids <file>', help: 'ignored, as the reference application does', isHidden: true },
  { spelling: '--event-log <file>', help: 'events log; default: events.log' },
  { spelling: '--force-ownership', help: 'take counters from a program that holds them' },
  { spelling: '-l, --log-level <level>', help: '10 nothing, 30 errors, 50 (default) all' },
  { spelling: '--sdk-log-level <level>', help: "the same of the vendor's library; default: 40", isHidden: true },
  { spelling: '--log-modules <names>', help: 'ignored, with a warning', isHidden: true },
  { spelling: '-j, --json <file>', help: 'further flags, by their long names' },
  { spelling: '--config <file>', help: 'configuration file (YAML)' },
  { spelling: '--simulate [scenarios]', help: 'the NIC is one of a simulated node' },
  { spelling: '--seed <number>', help: 'what the simulated node is made of; default: 1' },
  { spelling: '--compat', help: 'as the reference application, byte for byte' },
  { spelling: '--doca-version <text>', help: 'for --compat; default: 3.4.0012', isHidden: true },
  { spelling: '--format <name>', help: 'of the log: csv (default) or jsonl' },
  { spelling: '--append', help: 'go on behind the log that is there' },
  { spelling: '--log-bytes <bytes>', help: 'size of a log file; default: 67108864' },
  { spelling: '--log-files <count>', help: 'log files that are kept; default: 8' },
  { spelling: '--max-event-s <seconds>', help: 'longest event before it is cut; default: 60' },
  { spelling: '--max-event-bytes <bytes>', help: 'largest event, likewise; default: 67108864', isHidden: true },
  { spelling: '--events-per-minute <count>', help: 'further events are counted; default: 60' },
]

/** Flags that the file of `--json` may hold, by their long names. */
const NAMES = FLAGS.map(({ spelling }) => longName(spelling)).filter((name) => name !== 'json')
/** Groups of the DOCA Arg Parser in the file of `--json`. */
const GROUPS = ['doca_general_flags', 'doca_program_flags']
const JSON_BYTES_MAX = 65_536

/** Adds the flags of traceback to a command. */
export function withTracebackFlags(command: Command): Command {
  for (const { spelling, help, isHidden } of FLAGS)
    command.addOption(new Option(spelling, help).hideHelp(isHidden === true))
  return command
}

/** Flags by their long names, including those of `--json`; the command line takes precedence. @throws ConfigError */
export function mergedFlags(given: Readonly<Record<string, unknown>>): TracebackFlags {
  const flags: Record<string, string | boolean | undefined> = {}
  for (const [name, value] of Object.entries(given)) flags[dashed(name)] = value as string | boolean
  return typeof flags.json === 'string' ? { ...flagsOfFile(flags.json), ...flags } : flags
}

function flagsOfFile(path: string): TracebackFlags {
  let read: unknown
  try {
    const bytes = readGivenFile(path, JSON_BYTES_MAX)
    if (bytes === undefined) throw new Error(`larger than ${JSON_BYTES_MAX} bytes`)
    read = parse(bytes.toString())
  } catch (error) {
    throw new ConfigError([`--json ${path} cannot be read: ${systemReason(error)}`])
  }
  if (!isJsonObject(read)) throw new ConfigError([`--json ${path} holds no object`])
  // An object without any known flag is another kind of file, so none of it is printed.
  if (![...NAMES, ...GROUPS].some((name) => name in read))
    throw new ConfigError([`--json ${path} holds no flag; allowed: ${NAMES.join(', ')}`])
  const groups = GROUPS.flatMap((group) => (isJsonObject(read[group]) ? Object.entries(read[group]) : []))
  const faults: string[] = []
  const flags: Record<string, string | boolean> = {}
  for (const [name, value] of [...Object.entries(read).filter(([name]) => !GROUPS.includes(name)), ...groups]) {
    const fault = faultOf(name, value)
    if (fault === undefined) flags[name] = typeof value === 'boolean' ? value : String(value)
    else faults.push(`--json ${path}: ${fault}`)
  }
  if (faults.length > 0) throw new ConfigError(faults)
  return flags
}

/** The error of the parser quotes the text, and the file may be any file, so the quote is left out. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('it is no JSON')
  }
}

function faultOf(name: string, value: unknown): string | undefined {
  const flag = FLAGS.find(({ spelling }) => longName(spelling) === name)
  if (flag === undefined || name === 'json') {
    const meant = closest(name, NAMES)
    return `${JSON.stringify(name)} is no flag${meant === undefined ? '' : ` (did you mean ${meant}?)`}; allowed: ${NAMES.join(', ')}`
  }
  const isSwitch = !flag.spelling.includes('<')
  const isFit = isSwitch ? typeof value === 'boolean' : typeof value === 'string' || typeof value === 'number'
  return isFit
    ? undefined
    : `${name} is ${JSON.stringify(value)}; allowed: ${isSwitch ? 'true or false' : 'text or a number'}`
}

function longName(spelling: string): string {
  return /--([\w-]+)/.exec(spelling)?.[1] ?? ''
}

/** Commander writes `eventLog` for `--event-log`. */
function dashed(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
