import { RULE_LIMITS, SAMPLES_MAX, WINDOW_MS_MAX } from './limits.ts'

/** The form of a value in a file of rules. The reader checks it, and the published schema contains it. */
export type Form =
  | { readonly kind: 'text' }
  | { readonly kind: 'data_id' }
  | { readonly kind: 'integer'; readonly min: bigint; readonly max: bigint; readonly unit: string }
  | { readonly kind: 'number'; readonly min: number; readonly max: number; readonly unit: string }
  /** A value of a signal: a whole number of 64 bits if the signal has such values, otherwise any number. */
  | { readonly kind: 'value' }
  | { readonly kind: 'names'; readonly min: number; readonly max: number }
  | { readonly kind: 'labels' }

/** A key that an object of the file may have. */
export interface Key {
  readonly name: string
  readonly form: Form
  readonly help: string
  /** The default; absent if the key is required. */
  readonly fallback?: string
}

export const U64_MAX = 2n ** 64n - 1n
export const DATA_ID = /^0x[0-9a-fA-F]{16}$/
/** Most labels of a signal. */
export const LABELS_MAX = 32

/** A whole number. Both bounds are included. */
export const integerForm = (min: number | bigint, max: number | bigint, unit: string): Form => ({
  kind: 'integer',
  min: BigInt(min),
  max: BigInt(max),
  unit,
})

const OF_DEPTH = '`sample_history_depth`'

export const NAME: Key = { name: 'name', form: { kind: 'text' }, help: 'Name in logs and on pages; unique' }

export const ACTIVATE: Key = {
  name: 'activate_samples',
  form: integerForm(1, SAMPLES_MAX, 'samples'),
  help: 'Consecutive matches after which it begins',
  fallback: OF_DEPTH,
}

export const DEACTIVATE: Key = {
  name: 'deactivate_samples',
  form: integerForm(1, SAMPLES_MAX, 'samples'),
  help: 'Consecutive samples that do not match, after which it ends',
  fallback: OF_DEPTH,
}

/** Number of samples of a difference or a quantile. */
export const delta = (min: number, help: string): Key => ({
  name: 'delta_samples',
  form: integerForm(min, SAMPLES_MAX, 'samples'),
  help,
  fallback: OF_DEPTH,
})

export const COMPARISON_VALUE: Key = {
  name: 'comparison_value',
  form: { kind: 'value' },
  help: 'Limit: from 0 to 18446744073709551615 for data IDs, any number for fields with fractions',
}

/** A time, in milliseconds with decimals. */
export const milliseconds = (name: string, help: string): Key => ({
  name,
  form: { kind: 'number', min: 0.001, max: WINDOW_MS_MAX, unit: 'milliseconds' },
  help,
})

/** Any number. */
export const anyNumber = (help: string): Key => ({
  name: 'comparison_value',
  form: { kind: 'number', min: -Number.MAX_VALUE, max: Number.MAX_VALUE, unit: '' },
  help,
})

/** The allowed values of a form, in words. */
export function allowedBy(form: Form): string {
  switch (form.kind) {
    case 'text':
      return `text of 1 to ${RULE_LIMITS.nameCharacters} characters`
    case 'data_id':
      return 'text of 0x and 16 hexadecimal digits, such as "0x1020000100000000"'
    case 'integer':
      return `a whole number from ${form.min} to ${form.max}${inUnit(form.unit)}, as digits`
    case 'number':
      if (form.max === Number.MAX_VALUE) return 'a number'
      return `a number from ${form.min} to ${form.max}${inUnit(form.unit)}`
    case 'value':
      return 'a number'
    case 'names':
      return `a list of ${form.min} to ${form.max} names`
    case 'labels':
      return `an object of at most ${LABELS_MAX} names with text`
  }
}

const inUnit = (unit: string) => (unit === '' ? '' : ` (${unit})`)
