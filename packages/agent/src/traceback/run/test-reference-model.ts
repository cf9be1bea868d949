// The reference application as its description has it: slow, one sample after the other, with bigint. It shares nothing
// with the engine or the log.

/** What is watched. */
export interface ModelBook {
  readonly depth: number
  readonly names: readonly string[]
  readonly rules: readonly ModelRule[]
}

/** A rule: `column` is the index of its data ID. */
export interface ModelRule {
  readonly name: string
  readonly kind: 'gt' | 'lt' | 'inc_gt' | 'dt_gt' | 'dt_lt'
  readonly column: number
  readonly value: bigint
}

/** A sample as the reference keeps it. */
export interface ModelSample {
  readonly stamp: bigint
  /** Time of the host, as the log prints it. */
  readonly time: string
  readonly values: readonly bigint[]
}

const MASK = 2n ** 64n - 1n

class ModelState {
  active = false
  count = 0
  setNew = true
  target = 0n
}

/** Everything that the log has behind its head. */
export function modelLog({ depth, names, rules }: ModelBook, samples: readonly ModelSample[]): string {
  const states = rules.map(() => new ModelState())
  const stored: ModelSample[] = []
  let activeRules = 0
  let log = ''
  const row = ({ stamp, values }: ModelSample) => `${[stamp, ...values].join(', ')}\n`
  for (const sample of samples) {
    stored.push(sample)
    if (stored.length > 2 * depth) stored.shift()
    if (activeRules !== 0) log += row(sample)
    for (const [index, rule] of rules.entries()) {
      const state = states[index] as ModelState
      if (!step(rule, state, depth, stored)) continue
      if (state.active) {
        activeRules++
        if (activeRules === 1) log += `timestamp, ${names.join(', ')}\n${stored.map(row).join('')}`
        log += `<<Event start>> Time: ${sample.time}, Rule: "${rule.name}"\n`
      } else {
        activeRules--
        log += `<<Event end>> Time: ${sample.time}, Rule: "${rule.name}"\n`
      }
    }
  }
  return log
}

/** One sample of one rule. Whether it began or ended. */
function step({ kind, column, value }: ModelRule, state: ModelState, depth: number, stored: ModelSample[]): boolean {
  const back = (samples: number) => stored.at(-1 - samples)?.values[column] as bigint
  const newest = back(0)
  if (kind === 'gt' || kind === 'lt') {
    const isMatch = kind === 'gt' ? newest > value : newest < value
    state.count = state.active !== isMatch ? state.count + 1 : 0
  } else if (kind === 'inc_gt') {
    if (state.setNew) {
      const reference = stored.length === 1 ? newest : back(1)
      state.target = (reference + value) & MASK
      state.setNew = false
    }
    const isMatch = newest >= state.target
    if (isMatch) state.setNew = true
    state.count = state.active !== isMatch ? state.count + 1 : 0
  } else if (stored.length > depth) {
    const difference = (newest - back(depth)) & MASK
    const isMatch = kind === 'dt_gt' ? difference > value : difference < value
    if (!state.active && isMatch) state.count = depth
    else if (state.active && !isMatch) state.count++
    else state.count = 0
  }
  if (state.count < (kind === 'inc_gt' ? 1 : depth)) return false
  state.active = !state.active
  state.count = 0
  return true
}
