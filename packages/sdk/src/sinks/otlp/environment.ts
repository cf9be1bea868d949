import { OptionFault } from '../../delivery/connection/option-fault.ts'

/** Variables by name, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>

/** What the variables of OpenTelemetry say of a signal; what they do not say is not there. */
export interface SignalVariables {
  /** The address of the signal itself. */
  readonly signalUrl?: string
  /** The address to which the path of the signal is appended. */
  readonly url?: string
  readonly protocol?: string
  readonly compression?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Unit: milliseconds. */
  readonly timeoutMs?: number
  readonly caFile?: string
  readonly certFile?: string
  readonly keyFile?: string
}

const TIMEOUT_MAX_MS = 600_000

/**
 * The variables `OTEL_EXPORTER_OTLP_…` for a signal: `…_METRICS_…` or `…_LOGS_…` win over those without. Empty
 * variables count as not there. Pure.
 *
 * @throws OptionFault if a value is none of those allowed.
 */
export function signalVariables(environment: Environment, signal: 'metrics' | 'logs'): SignalVariables {
  const own = (name: string) => `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_${name}`
  const named = (name: string) => {
    const variable = [own(name), `OTEL_EXPORTER_OTLP_${name}`].find((each) => textOf(environment, each) !== undefined)
    return variable === undefined ? undefined : { variable, text: textOf(environment, variable) ?? '' }
  }
  const values: Record<string, unknown> = {
    signalUrl: textOf(environment, own('ENDPOINT')),
    url: textOf(environment, 'OTEL_EXPORTER_OTLP_ENDPOINT'),
    protocol: oneOf(named('PROTOCOL'), 'protocol', ['http/protobuf', 'http/json']),
    compression: oneOf(named('COMPRESSION'), 'compression', ['none', 'gzip']),
    headers: pairsOf(named('HEADERS'), 'headers'),
    timeoutMs: timeoutOf(named('TIMEOUT')),
    caFile: named('CERTIFICATE')?.text,
    certFile: named('CLIENT_CERTIFICATE')?.text,
    keyFile: named('CLIENT_KEY')?.text,
  }
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

/**
 * The attributes of `OTEL_RESOURCE_ATTRIBUTES`, and `service.name` of `OTEL_SERVICE_NAME`, which wins. Pure.
 *
 * @throws OptionFault if the text is no list of `name=value`.
 */
export function resourceVariables(environment: Environment): Readonly<Record<string, string>> {
  const [list, name] = ['OTEL_RESOURCE_ATTRIBUTES', 'OTEL_SERVICE_NAME'] as const
  const text = textOf(environment, list)
  const service = textOf(environment, name)
  const attributes = text === undefined ? {} : pairsOf({ variable: list, text }, 'resource')
  return { ...attributes, ...(service === undefined ? {} : { 'service.name': service }) }
}

/** The temporality that `OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE` asks for. @throws OptionFault */
export function temporalityVariable(environment: Environment): 'cumulative' | 'delta' | undefined {
  const variable = 'OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE'
  const text = textOf(environment, variable)?.toLowerCase()
  if (text === undefined) return undefined
  const word = oneOf({ variable, text }, 'temporality', ['cumulative', 'delta', 'lowmemory'])
  return word === 'cumulative' ? 'cumulative' : 'delta'
}

interface Named {
  readonly variable: string
  readonly text: string
}

function textOf(environment: Environment, name: string): string | undefined {
  const text = environment[name]?.trim()
  return text === '' ? undefined : text
}

function oneOf(given: Named | undefined, key: string, allowed: readonly string[]): string | undefined {
  if (given === undefined || allowed.includes(given.text)) return given?.text
  throw new OptionFault(key, `is ${JSON.stringify(given.text)} in ${given.variable}`, allowed.join(', '))
}

function timeoutOf(given: Named | undefined): number | undefined {
  if (given === undefined) return undefined
  const timeoutMs = Number(given.text)
  if (Number.isInteger(timeoutMs) && timeoutMs >= 10 && timeoutMs <= TIMEOUT_MAX_MS) return timeoutMs
  const fault = `is ${JSON.stringify(given.text)} in ${given.variable}`
  throw new OptionFault('timeoutMs', fault, `10 to ${TIMEOUT_MAX_MS} milliseconds`)
}

/** A list `name=value,name=value`, in which `%2C` stands for a comma. The fault shows no value: it may be a secret. */
function pairsOf(given: Named | undefined, key: string): Readonly<Record<string, string>> | undefined {
  if (given === undefined) return undefined
  const pairs = given.text.split(',').filter((each) => each.trim() !== '')
  const entries = pairs.map((each) => {
    const at = each.indexOf('=')
    const name = each.slice(0, at).trim()
    const value = decoded(each.slice(at + 1).trim())
    if (at > 0 && name !== '' && value !== undefined) return [name, value] as const
    throw new OptionFault(key, `cannot be read from ${given.variable}`, 'name=value,name=value')
  })
  return Object.fromEntries(entries)
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
