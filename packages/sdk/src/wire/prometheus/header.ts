/** A metric of the exposition, with one name, one kind and one unit. */
export interface FamilyInfo {
  /** The declared name; the same in every format. */
  readonly name: string
  readonly kind: 'counter' | 'gauge' | 'histogram' | 'unknown'
  /** Base unit, empty if there is none. */
  readonly unit: string
}

/** Text 0.0.4 or OpenMetrics 1.0. */
export type Format = 'text' | 'openmetrics'

/** `Content-Type` of each format. */
export const CONTENT_TYPES: Readonly<Record<Format, string>> = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
}

/** The last line of an OpenMetrics exposition. */
export const END_OF_OPENMETRICS = '# EOF\n'

/**
 * HELP, TYPE and UNIT of a family. In OpenMetrics, the family of a counter is named without `_total`. Names never
 * change, so a counter without `_total`, or whose short name another family has (`baseTaken`), is typed `unknown`
 * there.
 */
export function headerText(family: FamilyInfo, help: string, format: Format, baseTaken: boolean): string {
  const { name, kind, unit } = family
  if (format === 'text') {
    return `# HELP ${name} ${escapeHelp(help, format)}\n# TYPE ${name} ${kind === 'unknown' ? 'untyped' : kind}\n`
  }
  const base = counterBase(family)
  const short = base !== undefined && !baseTaken
  const familyName = short ? base : name
  const type = kind === 'counter' && !short ? 'unknown' : kind
  const unitLine = unit !== '' && familyName.endsWith(`_${unit}`) ? `# UNIT ${familyName} ${unit}\n` : ''
  return `# TYPE ${familyName} ${type}\n${unitLine}# HELP ${familyName} ${escapeHelp(help, format)}\n`
}

/** The name of a counter's family in OpenMetrics; undefined if the name has no `_total` to leave out. */
export function counterBase({ name, kind }: FamilyInfo): string | undefined {
  const base = name.slice(0, -'_total'.length)
  return kind === 'counter' && name.endsWith('_total') && /^[a-zA-Z_:]/.test(base) ? base : undefined
}

/** Every name that a family's lines and header use in text 0.0.4; no other family may use one. */
export function namesOf({ name, kind }: FamilyInfo): string[] {
  return kind === 'histogram' ? [name, `${name}_bucket`, `${name}_count`, `${name}_sum`] : [name]
}

function escapeHelp(help: string, format: Format): string {
  if (!/[\\\n"\0\ud800-\udfff]/.test(help)) return help
  const text = help.toWellFormed().replaceAll('\0', '\ufffd').replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
  return format === 'openmetrics' ? text.replaceAll('"', '\\"') : text
}
