import type { Test } from '../rule.ts'
import {
  ACTIVATE,
  anyNumber,
  COMPARISON_VALUE,
  DEACTIVATE,
  delta,
  integerForm,
  type Key,
  milliseconds,
  NAME,
} from './keys.ts'
import { SAMPLES_MAX } from './limits.ts'
import type { RuleValues } from './rule-values.ts'

/** A type of rule: its spellings, its keys, and the test that they make. */
export interface RuleKind {
  readonly kind: Test['kind']
  /** The reference application's spelling. It is allowed like the short spelling. */
  readonly long?: string
  readonly help: string
  /** Keys in addition to the keys that every rule has. */
  readonly keys: readonly Key[]
  readonly make: (given: RuleValues) => Test
}

/** Keys of the file that are not lists. */
export const FILE_KEYS: readonly Key[] = [
  { name: '$schema', form: { kind: 'text' }, help: 'Where an editor finds this schema', fallback: 'none' },
  {
    name: 'diag_sample_period_ns',
    form: integerForm(1, 0xffff_ffff, 'nanoseconds'),
    help: 'Time between two samples of the device; required with data IDs',
  },
  {
    name: 'sample_history_depth',
    form: integerForm(1, SAMPLES_MAX, 'samples'),
    help: 'Half of the samples that are kept from before an event; need not be a power of two',
  },
]

export const DATA_ID_KEYS: readonly Key[] = [
  NAME,
  { name: 'data_id', form: { kind: 'data_id' }, help: 'ID of a diagnostic counter; each entry has a different ID' },
]

export const SIGNAL_KEYS: readonly Key[] = [
  NAME,
  { name: 'type', form: { kind: 'text' }, help: 'Type of records, such as `rdma_hw`' },
  { name: 'field', form: { kind: 'text' }, help: 'Name of a number field of that type' },
  { name: 'labels', form: { kind: 'labels' }, help: 'Labels that the series must have', fallback: 'none' },
]

/** Keys that name the signal of a rule. A rule has exactly one of them. */
export const SIGNAL_REFERENCES: readonly Key[] = [
  { name: 'data_id', form: { kind: 'data_id' }, help: 'One of the data IDs of the file' },
  { name: 'signal', form: { kind: 'text' }, help: 'Name of a data ID or of another signal of the file' },
]

export const COMBINATION_KEYS: readonly Key[] = [
  {
    name: 'rules',
    form: { kind: 'names', min: 2, max: 64 },
    help: 'Names of rules on one signal, not of combinations',
  },
]

/** Only `all_of` has it. */
export const WITHIN: Key = milliseconds('within_ms', 'The rules must have begun within this time of each other')

export const COMBINATIONS = ['all_of', 'any_of'] as const

const oneOfNextSample: Key = { ...DEACTIVATE, fallback: '1' }

const rate = (kind: 'rate_gt' | 'rate_lt', word: string): RuleKind => ({
  kind,
  help: `The increase per second, over \`window_ms\`, is ${word} \`comparison_value\`. Begins at once`,
  keys: [
    anyNumber('Increase per second'),
    milliseconds('window_ms', 'Time window of the increase; the samples decide its exact length'),
    DEACTIVATE,
  ],
  make: (given) => ({
    kind,
    perSecond: given.number('comparison_value'),
    overNs: given.ns('window_ms'),
    offSamples: given.samples('deactivate_samples'),
  }),
})

const level = (kind: 'gt' | 'lt', long: string, word: string): RuleKind => ({
  kind,
  long,
  help: `The value is ${word} \`comparison_value\``,
  keys: [COMPARISON_VALUE, ACTIVATE, DEACTIVATE],
  make: (given) => ({
    kind,
    value: given.value('comparison_value'),
    onSamples: given.samples('activate_samples'),
    offSamples: given.samples('deactivate_samples'),
  }),
})

const difference = (kind: 'dt_gt' | 'dt_lt', long: string, word: string): RuleKind => ({
  kind,
  long,
  help: `The increase over \`delta_samples\` is ${word} \`comparison_value\`. Begins at once`,
  keys: [COMPARISON_VALUE, delta(1, 'Number of samples of the increase'), DEACTIVATE],
  make: (given) => ({
    kind,
    value: given.value('comparison_value'),
    overSamples: given.samples('delta_samples'),
    offSamples: given.samples('deactivate_samples'),
  }),
})

const ratio = (kind: 'ratio_gt' | 'ratio_lt', word: string): RuleKind => ({
  kind,
  help: `The signal, divided by the signal \`to\`, is ${word} \`comparison_value\``,
  keys: [
    anyNumber('Ratio'),
    { name: 'to', form: { kind: 'text' }, help: 'Name of the other signal, from the same records' },
    delta(0, 'Number of samples of both increases; 0 divides the values'),
    ACTIVATE,
    DEACTIVATE,
  ],
  make: (given) => ({
    kind,
    value: given.number('comparison_value'),
    to: given.signal('to'),
    overSamples: given.samples('delta_samples'),
    onSamples: given.samples('activate_samples'),
    offSamples: given.samples('deactivate_samples'),
  }),
})

const quantile = (kind: 'quantile_gt' | 'quantile_lt', word: string): RuleKind => ({
  kind,
  help: `The quantile of the last \`delta_samples\` values, by nearest rank, is ${word} \`comparison_value\`. Begins at once`,
  keys: [
    COMPARISON_VALUE,
    { name: 'quantile', form: { kind: 'number', min: 0, max: 1, unit: '' }, help: '0.5 is the median, 1 the maximum' },
    delta(1, 'Number of values of the quantile'),
    DEACTIVATE,
  ],
  make: (given) => ({
    kind,
    quantile: given.number('quantile'),
    value: given.value('comparison_value'),
    overSamples: given.samples('delta_samples'),
    offSamples: given.samples('deactivate_samples'),
  }),
})

/** Every type of rule on one signal. */
export const RULE_KINDS: readonly RuleKind[] = [
  level('gt', 'greater_than', 'above'),
  level('lt', 'less_than', 'below'),
  {
    kind: 'inc_gt',
    long: 'incremental_greater_than',
    help: 'The value has risen by `comparison_value` since the rule last fired',
    keys: [COMPARISON_VALUE],
    make: (given) => ({ kind: 'inc_gt', value: given.value('comparison_value') }),
  },
  difference('dt_gt', 'differential_greater_than', 'above'),
  difference('dt_lt', 'differential_less_than', 'below'),
  rate('rate_gt', 'above'),
  rate('rate_lt', 'below'),
  {
    kind: 'absent',
    help: 'No sample for `absent_ms`. Ends with the next sample',
    keys: [milliseconds('absent_ms', 'Time without a sample after which it begins')],
    make: (given) => ({ kind: 'absent', forNs: given.ns('absent_ms') }),
  },
  {
    kind: 'change',
    help: 'The value differs from the previous sample. Begins at once',
    keys: [oneOfNextSample],
    make: (given) => ({ kind: 'change', offSamples: given.samples('deactivate_samples', 1) }),
  },
  ratio('ratio_gt', 'above'),
  ratio('ratio_lt', 'below'),
  quantile('quantile_gt', 'above'),
  quantile('quantile_lt', 'below'),
]
