import type { EventLimits, LogFileOptions } from '@sonde/agent'
import { ConfigError } from '../../config/config-error.ts'
import type { SimulateFlags } from '../../config/simulate.ts'
import type { TracebackFlags } from './flags.ts'

/** The checked options of `sonde traceback`. */
export interface TracebackSettings {
  readonly device: string
  readonly rulesPath: string
  readonly forceOwnership: boolean
  readonly file: LogFileOptions
  readonly limits: EventLimits
  readonly format: 'csv' | 'jsonl'
  readonly docaVersion: string
  /** Log level, from 10 (nothing) to 70. */
  readonly logLevel: number
  /** Configuration file; undefined: the file of the machine. */
  readonly configPath: string | undefined
  readonly simulate: SimulateFlags
  /** Flags that are accepted and ignored. */
  readonly warnings: readonly string[]
}

const LEVELS = ['10', '20', '30', '40', '50', '60', '70']
/** Flags that have no meaning together with `--compat`. */
const NOT_COMPAT = ['format', 'append', 'log-bytes', 'log-files', 'max-event-s', 'max-event-bytes', 'events-per-minute']

/** Checks the flags. @throws ConfigError with every fault. */
export function tracebackSettings(flags: TracebackFlags): TracebackSettings {
  const faults: string[] = []
  const text = (name: string, fallback: string) => {
    const value = flags[name]
    if (value === '') faults.push(`--${name} is empty; allowed: text`)
    return typeof value === 'string' ? value : fallback
  }
  const oneOf = (name: string, fallback: string, allowed: readonly string[]) => {
    const value = text(name, fallback)
    if (!allowed.includes(value)) faults.push(`--${name} is ${JSON.stringify(value)}; allowed: ${allowed.join(', ')}`)
    return value
  }
  const number = (name: string, fallback: number, min: number, max: number) => {
    const value = text(name, String(fallback))
    const isFit = /^\d+$/.test(value) && Number(value) >= min && Number(value) <= max
    if (!isFit) faults.push(`--${name} is ${JSON.stringify(value)}; allowed: a whole number from ${min} to ${max}`)
    return Number(value)
  }
  if (flags.device === undefined)
    faults.push('--device is missing; allowed: a PCIe address, RDMA device or interface, or file:SAMPLES')
  const settings: TracebackSettings = {
    device: text('device', ''),
    rulesPath: text('rules', 'rules.json'),
    forceOwnership: flags['force-ownership'] === true,
    file: {
      path: text('event-log', 'events.log'),
      append: flags.append === true,
      fileBytesMax: number('log-bytes', 64 * 1024 * 1024, 4096, 2 ** 40),
      filesMax: number('log-files', 8, 1, 1000),
    },
    limits: {
      eventSMax: number('max-event-s', 60, 1, 86_400),
      eventBytesMax: number('max-event-bytes', 64 * 1024 * 1024, 4096, 2 ** 40),
      eventsPerMinute: number('events-per-minute', 60, 1, 1_000_000),
    },
    format: oneOf('format', 'csv', ['csv', 'jsonl']) as 'csv' | 'jsonl',
    docaVersion: text('doca-version', '3.4.0012'),
    logLevel: Number(oneOf('log-level', '50', LEVELS)),
    configPath: flags.config === undefined ? undefined : text('config', ''),
    simulate: simulateOf(flags),
    warnings: warningsOf(flags),
  }
  oneOf('sdk-log-level', '40', LEVELS)
  if (faults.length > 0) throw new ConfigError(faults)
  return settings
}

/** `--simulate` asks for a simulated NIC, with or without scenarios. */
function simulateOf({ simulate, seed }: TracebackFlags): SimulateFlags {
  return {
    ...(simulate === undefined
      ? {}
      : { simulate: simulate === false ? true : (simulate as string | true), onlySimulated: true }),
    ...(seed === undefined ? {} : { seed: String(seed) }),
  }
}

function warningsOf(flags: TracebackFlags): string[] {
  const warnings: string[] = []
  if (flags['log-modules'] !== undefined) warnings.push('--log-modules is ignored: the log is not told apart by module')
  if (String(flags.device ?? '').startsWith('file:') && flags.simulate !== undefined)
    warnings.push('--simulate is ignored: the samples are those of a file')
  if (flags.compat === true)
    for (const name of NOT_COMPAT)
      if (flags[name] !== undefined)
        warnings.push(`--${name} is ignored: with --compat the log is that of the reference`)
  return warnings
}
