import assert from 'node:assert/strict'

/** One line of an exposition. */
export interface ExposedSample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  /** As it is written, zeros in front included. */
  readonly value: string
  /** As it is written; empty if there is none. */
  readonly time: string
}

/** A family as an exposition declares it. */
export interface ExposedFamily {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly unit: string
  readonly samples: ExposedSample[]
}

const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  counter: ['_total'],
  gauge: [''],
  untyped: [''],
  unknown: [''],
  histogram: ['_bucket', '_count', '_sum'],
}
const NUMBER = /^(?:[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?|[+-]Inf|NaN)$/
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)(?: (\S+))?$/s
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\["\\n])*)"(,|$)/gsy

/**
 * Reads text 0.0.4 or OpenMetrics 1.0, written from the specifications and not from our encoder: strict on what they
 * demand, and on nothing else. Fails where a family is torn or told twice, a sample belongs to none, a series comes
 * twice, or a line has no form.
 */
export function parseExposition(bytes: Uint8Array, format: 'text' | 'openmetrics'): Map<string, ExposedFamily> {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  const families = new Map<string, ExposedFamily>()
  const series = new Set<string>()
  const lines = text.split('\n')
  assert.equal(lines.pop(), '', 'the last line ends in a newline')
  if (format === 'openmetrics') assert.equal(lines.pop(), '# EOF')
  let current: { -readonly [K in keyof ExposedFamily]: ExposedFamily[K] } | undefined
  for (const line of lines) {
    const comment = /^# (HELP|TYPE|UNIT) (\S+) (.*)$/s.exec(line)
    if (comment !== null) {
      const [, what = '', name = '', rest = ''] = comment
      if (current?.name !== name) {
        assert.ok(!families.has(name), `family ${name} is told twice`)
        current = { name, type: '', help: '', unit: '', samples: [] }
        families.set(name, current)
      }
      assert.equal(current.samples.length, 0, `${line} comes after samples`)
      if (what === 'HELP') current.help = unescaped(rest, format === 'openmetrics')
      else if (what === 'TYPE') current.type = rest
      else current.unit = rest
      continue
    }
    const sample = sampleOf(line)
    assert.ok(current !== undefined, `no family before ${line}`)
    assertBelongs(sample, current, format)
    const key = JSON.stringify([sample.name, Object.entries(sample.labels).sort()])
    assert.ok(!series.has(key), `series ${key} comes twice`)
    series.add(key)
    current.samples.push(sample)
  }
  return families
}

function sampleOf(line: string): ExposedSample {
  const match = SAMPLE.exec(line)
  assert.ok(match !== null, `no sample: ${JSON.stringify(line)}`)
  const [, name = '', labelText = '', value = '', time = ''] = match
  assert.match(value, NUMBER, line)
  const labels: Record<string, string> = {}
  LABEL.lastIndex = 0
  while (LABEL.lastIndex < labelText.length) {
    const label = LABEL.exec(labelText)
    assert.ok(label !== null, `labels of ${JSON.stringify(line)}`)
    assert.ok(!Object.hasOwn(labels, label[1] ?? ''), `label ${label[1]} comes twice in ${line}`)
    labels[label[1] ?? ''] = unescaped(label[2] ?? '', true)
  }
  return { name, labels, value, time }
}

function assertBelongs(sample: ExposedSample, family: ExposedFamily, format: string): void {
  assert.notEqual(family.type, format === 'text' ? 'unknown' : 'untyped', `${family.name}: a type of the other format`)
  const suffixes = format === 'text' && family.type === 'counter' ? [''] : SUFFIXES[family.type]
  assert.ok(suffixes !== undefined, `type ${family.type} of ${family.name}`)
  const named = suffixes.some((suffix) => sample.name === family.name + suffix)
  assert.ok(named, `${sample.name} is no sample of the ${family.type} ${family.name}`)
  if (family.unit !== '') assert.ok(family.name.endsWith(`_${family.unit}`), `${family.name} has unit ${family.unit}`)
}

function unescaped(text: string, quotes: boolean): string {
  return text.replace(/\\(.)/gs, (all, next: string) => {
    if (next === 'n') return '\n'
    return next === '\\' || (quotes && next === '"') ? next : all
  })
}
