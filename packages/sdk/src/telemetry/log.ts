import { SondeError, shown } from '../errors.ts'
import { logType } from '../schema/builtin.ts'
import type { Integer64 } from '../schema/field.ts'
import { wallNs } from '../source/clock.ts'
import { Source } from '../source/source.ts'

/** Levels with the numbers that OpenTelemetry gives them. */
const LEVELS = { trace: 1, debug: 5, info: 9, warn: 13, error: 17, fatal: 21 } as const

/** The name of a severity. */
export type LogLevel = keyof typeof LEVELS

/** A log record of an application. */
export interface LogRecord {
  /** Level, or a severity as OpenTelemetry counts it: 1 to 24, where 9 is info. Default: `info`. */
  readonly level?: LogLevel | number
  /** What is reported. Beyond 4096 characters it is cut. */
  readonly body: string
  /**
   * Attributes by name, at most 64, whose JSON has at most 4096 characters. Others are left out and counted in the
   * field `dropped_attributes`. A bigint that no number holds exactly becomes a text. Default: none.
   */
  readonly attributes?: Readonly<Record<string, string | number | bigint | boolean>>
  /** Id of the trace: 32 hex digits, not all 0. Default: none. */
  readonly traceId?: string
  /** Id of the span: 16 hex digits, not all 0. Default: none. */
  readonly spanId?: string
  /** Unit: nanoseconds since the Unix epoch. Default: now. */
  readonly time?: Integer64
}

const ATTRIBUTES_MAX = 64
const JSON_CHARACTERS_MAX = 4096
const SEVERITY_MAX = 24

/**
 * Reports a log record, as a record of `logType`.
 *
 * @throws SondeError `LOG_VALUE` if a member has no allowed value; the errors of `report`.
 * @example reportLog(source, { level: 'warn', body: 'step took 3 s', attributes: { step: 71 } })
 */
export function reportLog(source: Source, record: LogRecord): void {
  if (!(source instanceof Source)) throw refused('the source of a log record', source, 'one of schema.createSource')
  if (record === null || typeof record !== 'object') throw refused('a log record', record, 'an object with a body')
  const { body, attributes = {}, traceId = '', spanId = '', time = wallNs() } = record
  if (typeof body !== 'string') throw refused('body of a log record', body, 'a text')
  const { severity, level } = severityOf(record.level ?? 'info')
  const { json, dropped } = attributesText(attributes)
  source.report(logType, {
    time,
    severity,
    level,
    body,
    attributes: json,
    dropped_attributes: dropped,
    trace_id: idOf('traceId', traceId, 32),
    span_id: idOf('spanId', spanId, 16),
  })
}

/** A number is named like the level below it, with its place: 10 is `info2`. */
function severityOf(given: LogLevel | number): { readonly severity: number; readonly level: string } {
  if (typeof given === 'string' && Object.hasOwn(LEVELS, given)) return { severity: LEVELS[given], level: given }
  if (typeof given === 'number' && Number.isInteger(given) && given >= 1 && given <= SEVERITY_MAX) {
    const [name = '', start = 0] = Object.entries(LEVELS).findLast(([, severity]) => severity <= given) ?? []
    return { severity: given, level: given === start ? name : `${name}${given - start + 1}` }
  }
  throw refused('level of a log record', given, `${Object.keys(LEVELS).join(', ')}, or 1 to ${SEVERITY_MAX}`)
}

function attributesText(attributes: NonNullable<LogRecord['attributes']>): {
  readonly json: string
  readonly dropped: number
} {
  if (attributes === null || typeof attributes !== 'object' || Array.isArray(attributes))
    throw refused('attributes of a log record', attributes, 'texts, numbers and flags by name')
  let members = ''
  let [kept, dropped] = [0, 0]
  for (const [name, value] of Object.entries(attributes)) {
    const member = `${JSON.stringify(name)}:${valueText(name, value)}`
    const fits = kept < ATTRIBUTES_MAX && members.length + member.length + 3 <= JSON_CHARACTERS_MAX
    if (fits) {
      members += kept++ === 0 ? member : `,${member}`
    } else dropped++
  }
  return { json: kept === 0 ? '' : `{${members}}`, dropped }
}

function valueText(name: string, value: unknown): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value.toWellFormed())
    case 'boolean':
      return String(value)
    case 'number':
      return Number.isFinite(value) ? String(value) : `"${value}"`
    case 'bigint':
      return Number.isSafeInteger(Number(value)) ? String(value) : `"${value}"`
    default:
      throw refused(`attribute ${shown(name)} of a log record`, value, 'a text, a number, a bigint or a flag')
  }
}

function idOf(name: string, given: unknown, digits: number): string {
  if (given === '') return ''
  const text = typeof given === 'string' ? given.toLowerCase() : ''
  if (text.length === digits && /^[0-9a-f]+$/.test(text) && !/^0+$/.test(text)) return text
  throw refused(`${name} of a log record`, given, `${digits} hex digits, not all 0`)
}

function refused(what: string, given: unknown, allowed: string): SondeError {
  return new SondeError('LOG_VALUE', `${what} is ${shown(given)}; allowed: ${allowed}`)
}
