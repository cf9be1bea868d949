import type { Signal, SignalRule, Test } from './rule.ts'

/** A signal that a host watches. */
export interface WatchedSignal extends Omit<Signal, 'dataId'> {
  /** Whether it only rises, but for resets and wraps. */
  readonly isCounter: boolean
}

/** What the hosts of a source watch in its rings: rules on single signals, by the order of their file. */
export interface Watch {
  readonly signals: readonly WatchedSignal[]
  readonly rules: readonly SignalRule[]
}

/** Watches nothing. */
export const NO_WATCH: Watch = { signals: [], rules: [] }

/** A {@link Watch} that can be written as JSON: whole numbers of 64 bits are texts. */
export interface SaidWatch extends Omit<Watch, 'rules'> {
  readonly rules: readonly SaidRule[]
}

interface SaidRule extends Omit<SignalRule, 'test'> {
  readonly test: Omit<Test, 'value'> & { readonly value?: number | string }
}

/** A watch as it is sent to a host. */
export function sayWatch({ rules, ...watch }: Watch): SaidWatch {
  const said = ({ test, ...rule }: SignalRule): SaidRule => {
    if (!('value' in test)) return { ...rule, test }
    const { value, ...others } = test
    return { ...rule, test: { ...others, value: typeof value === 'bigint' ? String(value) : value } }
  }
  return { ...watch, rules: rules.map(said) }
}

/** A watch as a host was sent it. */
export function hearWatch({ rules, ...watch }: SaidWatch): Watch {
  const heard = ({ test, ...rule }: SaidRule): SignalRule => {
    const { value } = test
    return { ...rule, test: (typeof value === 'string' ? { ...test, value: BigInt(value) } : test) as Test }
  }
  return { ...watch, rules: rules.map(heard) }
}
