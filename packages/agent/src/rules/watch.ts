import type { Signal, SignalRule, Test } from './rule.ts'

/** A signal that a host watches. */
export interface WatchedSignal extends Omit<Signal, 'dataId'> {
  /** Whether it only rises, except for resets and wraps. */
  readonly isCounter: boolean
}

/** Rules that the hosts of a source watch in its rings: rules on single signals, in the order of their file. */
export interface Watch {
  readonly signals: readonly WatchedSignal[]
  readonly rules: readonly SignalRule[]
}

/** A watch without rules. */
export const NO_WATCH: Watch = { signals: [], rules: [] }

/** A {@link Watch} as JSON: whole numbers of 64 bits are texts. */
export interface EncodedWatch extends Omit<Watch, 'rules'> {
  readonly rules: readonly EncodedRule[]
}

interface EncodedRule extends Omit<SignalRule, 'test'> {
  readonly test: Omit<Test, 'value'> & { readonly value?: number | string }
}

/** Encodes a watch for a host. */
export function encodeWatch({ rules, ...watch }: Watch): EncodedWatch {
  const said = ({ test, ...rule }: SignalRule): EncodedRule => {
    if (!('value' in test)) return { ...rule, test }
    const { value, ...others } = test
    return { ...rule, test: { ...others, value: typeof value === 'bigint' ? String(value) : value } }
  }
  return { ...watch, rules: rules.map(said) }
}

/** Decodes a watch in a host. */
export function decodeWatch({ rules, ...watch }: EncodedWatch): Watch {
  const heard = ({ test, ...rule }: EncodedRule): SignalRule => {
    const { value } = test
    return { ...rule, test: (typeof value === 'string' ? { ...test, value: BigInt(value) } : test) as Test }
  }
  return { ...watch, rules: rules.map(heard) }
}
