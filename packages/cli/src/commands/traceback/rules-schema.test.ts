import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readRuleBook, rulesSchema } from '@sonde/agent'
import { SondeError } from '@sonde/sdk'
import { Ajv } from 'ajv'

const validate = new Ajv({ strict: true, strictRequired: false, strictTypes: false, allErrors: true }).compile(
  rulesSchema(),
)

const ID = '0x1020000100000000'
const GT = { name: 'r', data_id: ID, comparison_type: 'gt', comparison_value: 1 }

/** A rules file with changes. */
function file(rules: readonly object[], more: object = {}): object {
  const base = {
    diag_sample_period_ns: 1000,
    sample_history_depth: 4,
    'data-ids': [{ name: 'rx', data_id: ID }],
    rules,
  }
  return { ...base, ...more }
}

function accepts(text: string): boolean {
  try {
    readRuleBook(text)
    return true
  } catch (error) {
    assert.ok(error instanceof SondeError)
    return false
  }
}

/** Rules files, and whether they are valid. */
const CORPUS: readonly (readonly [unknown, boolean])[] = [
  [file([GT]), true],
  [file([GT], { $schema: 'traceback.schema.json' }), true],
  [{ ...file([GT], { data_ids: [{ name: 'rx', data_id: ID }] }), 'data-ids': undefined }, true],
  [file([GT], { data_ids: [{ name: 'rx', data_id: ID }] }), false],
  [file([GT], { diag_sample_period_ns: undefined }), false],
  [file([GT], { diag_sample_period_ns: 4294967296 }), false],
  [file([GT], { sample_history_depth: 0 }), false],
  [file([GT], { sample_history_depth: 10_000 }), true],
  [file([GT], { sample_history_depth: '4' }), false],
  [file([GT], { rules: [] }), false],
  [file([GT], { 'data-ids': [] }), false],
  [file([GT], { 'data-ids': undefined }), false],
  [file([GT], { other: 1 }), false],
  [file([{ ...GT, comparison_type: 'greater_than' }]), true],
  [file([{ ...GT, comparison_type: 'GT' }]), false],
  [file([{ ...GT, comparison_value: 1.5 }]), false],
  [file([{ ...GT, comparison_value: -1 }]), false],
  [file([{ ...GT, comparison_value: null }]), false],
  [file([{ ...GT, comparison_value: undefined }]), false],
  [file([{ ...GT, activate_samples: 3, deactivate_samples: 1_000_000 }]), true],
  [file([{ ...GT, activate_samples: 0 }]), false],
  [file([{ ...GT, delta_samples: 1 }]), false],
  [file([{ ...GT, data_id: '1020000100000000' }]), false],
  [file([{ ...GT, data_id: undefined }]), false],
  [file([{ ...GT, data_id: undefined, signal: 'rx' }]), true],
  [file([{ ...GT, signal: 'rx' }]), false],
  [file([{ ...GT, name: '' }]), false],
  [file([{ ...GT, name: 'x'.repeat(201) }]), false],
  [file([{ ...GT, comparison_type: 'dt_gt', delta_samples: 1 }]), true],
  [file([{ ...GT, comparison_type: 'dt_gt', delta_samples: 0 }]), false],
  [file([{ ...GT, comparison_type: 'inc_gt' }]), true],
  [file([{ ...GT, comparison_type: 'inc_gt', deactivate_samples: 1 }]), false],
  [file([{ ...GT, comparison_type: 'rate_lt', window_ms: 0.5, comparison_value: -1.5 }]), true],
  [file([{ ...GT, comparison_type: 'rate_lt' }]), false],
  [file([{ name: 'r', data_id: ID, comparison_type: 'absent', absent_ms: 1 }]), true],
  [file([{ ...GT, comparison_type: 'absent', absent_ms: 1 }]), false],
  [file([{ name: 'r', data_id: ID, comparison_type: 'change' }]), true],
  [file([{ ...GT, comparison_type: 'ratio_gt', to: 'rx', comparison_value: 0.5, delta_samples: 0 }]), true],
  [file([{ ...GT, comparison_type: 'ratio_gt', comparison_value: 0.5 }]), false],
  [file([{ ...GT, comparison_type: 'quantile_gt', quantile: 0.99 }]), true],
  [file([{ ...GT, comparison_type: 'quantile_gt', quantile: 1.1 }]), false],
  [file([GT, { ...GT, name: 's' }, { name: 't', comparison_type: 'all_of', rules: ['r', 's'], within_ms: 1 }]), true],
  [file([GT, { ...GT, name: 's' }, { name: 't', comparison_type: 'all_of', rules: ['r', 's'] }]), false],
  [file([GT, { ...GT, name: 's' }, { name: 't', comparison_type: 'any_of', rules: ['r', 's'] }]), true],
  [file([GT, { ...GT, name: 's' }, { name: 't', comparison_type: 'any_of', rules: ['r'] }]), false],
  [file([GT, { ...GT, name: 's' }, { name: 't', comparison_type: 'any_of', rules: ['r', 's'], within_ms: 1 }]), false],
  [
    {
      sample_history_depth: 2,
      signals: [{ name: 'q', type: 'my_app', field: 'depth', labels: { room: '1' } }],
      rules: [{ name: 'r', signal: 'q', comparison_type: 'lt', comparison_value: -1.5 }],
    },
    true,
  ],
  [{ sample_history_depth: 2, signals: [{ name: 'q', type: 'my_app' }], rules: [{ ...GT, signal: 'q' }] }, false],
  [[], false],
  [null, false],
  ['rules', false],
]

test('the published schema and the reader agree on what is right and what is wrong', () => {
  for (const [given, isRight] of CORPUS) {
    const text = JSON.stringify(given)
    assert.equal(accepts(text), isRight, `the reader: ${text}`)
    assert.equal(validate(JSON.parse(text)), isRight, `the schema: ${text} ${JSON.stringify(validate.errors)}`)
  }
})

test('what the schema refuses, the reader refuses, whatever value stands in the place of another', () => {
  const values = [null, true, -1, 0, 0.5, 1, 4, 1e6, 2 ** 53, '', 'rx', ID, [], ['r'], {}, { name: 'x' }]
  const rights = CORPUS.flatMap(([given, isRight]) => (isRight ? [given] : []))
  let count = 0
  for (const right of rights)
    for (const changed of variantsOf(right, values)) {
      count++
      if (!validate(JSON.parse(JSON.stringify(changed))))
        assert.ok(!accepts(JSON.stringify(changed)), JSON.stringify(changed))
    }
  assert.ok(count > 2000, `${count}`)
})

/** Variants of a value: each inner value in turn at each position. */
function* variantsOf(given: unknown, values: readonly unknown[]): Iterable<unknown> {
  yield* values
  if (given === null || typeof given !== 'object') return
  for (const [key, inner] of Object.entries(given))
    for (const changed of variantsOf(inner, values)) {
      const copy = (Array.isArray(given) ? [...given] : { ...given }) as Record<string, unknown>
      copy[key] = changed
      yield copy
    }
}
