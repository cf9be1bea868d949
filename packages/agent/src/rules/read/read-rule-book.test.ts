import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SignalRule } from '../rule.ts'
import { readRuleBook } from './read-rule-book.ts'
import { RuleFaults } from './rule-faults.ts'
import { GUIDE, LATENCY_MAX, RX_BYTES, rulesText, TX_BYTES, testRule } from './test-rules.ts'

const DATA_ID_ALLOWED = 'text of 0x and 16 hexadecimal digits, such as "0x1020000100000000"'
const U64_ALLOWED = 'a whole number from 0 to 18446744073709551615, as digits'

function faultsOf(text: string): readonly string[] {
  try {
    readRuleBook(text)
  } catch (error) {
    if (error instanceof RuleFaults) return error.faults
    throw error
  }
  return []
}

function testOf(rule: object, more: object = {}): SignalRule['test'] {
  const [read] = readRuleBook(rulesText([rule], more)).book.rules
  assert.ok(read !== undefined && 'test' in read)
  return read.test
}

test("reads the guide's own example, with its depth of 10000", () => {
  const { book, warnings } = readRuleBook(JSON.stringify(GUIDE))
  assert.deepEqual(book, {
    samplePeriodNs: 100_000,
    historySamples: 10_000,
    signals: [
      {
        name: 'port_rx_bytes',
        type: 'doca_diag_sample',
        field: 'id_1020000100000000',
        labels: {},
        dataId: 0x1020_0001_0000_0000n,
      },
    ],
    rules: [
      {
        name: 'rx burst',
        signal: 0,
        test: { kind: 'dt_gt', value: 1_048_576n, overSamples: 10_000, offSamples: 10_000 },
      },
    ],
  })
  assert.deepEqual(warnings, [])
})

test('takes data_ids for data-ids, and refuses both at once', () => {
  const { 'data-ids': ids, ...rest } = GUIDE
  assert.equal(readRuleBook(JSON.stringify({ ...rest, data_ids: ids })).book.signals.length, 1)
  assert.deepEqual(faultsOf(JSON.stringify({ ...GUIDE, data_ids: ids })), [
    'data_ids and data-ids mean the same; allowed: only one of them',
  ])
})

test('a counter that is named as a field of its samples gets an error with the right way to write it', () => {
  const [field, right] = ['id_1020000100000000', '"data_id": "0x1020000100000000"']
  const signals = [{ name: 'rx', type: 'doca_diag_sample', field }]
  const rules = (signal: string) => [{ name: 'r', signal, comparison_type: 'gt', comparison_value: 1 }]
  const allowed = `the counter by its ID: "data-ids": [{ "name": "a counter", ${right} }], and in the rule ${right}`
  const depth = { sample_history_depth: 1 }
  assert.ok(
    faultsOf(JSON.stringify({ ...depth, signals, rules: rules('rx') })).includes(
      `signals[0] is the field "${field}" of doca_diag_sample; allowed: ${allowed}`,
    ),
  )
  const other = [{ name: 'oven', type: 'oven', field: 'celsius' }]
  const named = `doca_diag_sample.${field}`
  assert.deepEqual(faultsOf(JSON.stringify({ ...depth, signals: other, rules: rules(named) })), [
    `rules[0].signal is "${named}", which no entry of the file has; allowed: ${allowed}`,
  ])
})

test('takes every type in its short and in its long spelling', () => {
  const spellings = {
    gt: 'greater_than',
    lt: 'less_than',
    inc_gt: 'incremental_greater_than',
    dt_gt: 'differential_greater_than',
    dt_lt: 'differential_less_than',
  }
  for (const [short, long] of Object.entries(spellings)) {
    const more = { comparison_value: 7 }
    assert.equal(testOf(testRule(short, more)).kind, short)
    assert.deepEqual(testOf(testRule(long, more)), testOf(testRule(short, more)))
  }
})

test('couples history, window and hysteresis as the reference does, and lets each be set apart', () => {
  const value = { comparison_value: 5 }
  assert.deepEqual(testOf(testRule('gt', value)), { kind: 'gt', value: 5n, onSamples: 4, offSamples: 4 })
  assert.deepEqual(testOf(testRule('gt', { ...value, activate_samples: 2, deactivate_samples: 9 })), {
    kind: 'gt',
    value: 5n,
    onSamples: 2,
    offSamples: 9,
  })
  assert.deepEqual(testOf(testRule('dt_lt', { ...value, delta_samples: 10_000, deactivate_samples: 1 })), {
    kind: 'dt_lt',
    value: 5n,
    overSamples: 10_000,
    offSamples: 1,
  })
})

test('reads the types that the reference does not have', () => {
  assert.deepEqual(testOf(testRule('rate_gt', { comparison_value: 1.5e9, window_ms: 0.5 })), {
    kind: 'rate_gt',
    perSecond: 1.5e9,
    overNs: 500_000,
    offSamples: 4,
  })
  assert.deepEqual(testOf(testRule('absent', { absent_ms: 20 })), { kind: 'absent', forNs: 20_000_000 })
  assert.deepEqual(testOf(testRule('change')), { kind: 'change', offSamples: 1 })
  assert.deepEqual(testOf(testRule('ratio_lt', { comparison_value: 0.5, to: 'tx', delta_samples: 0 })), {
    kind: 'ratio_lt',
    value: 0.5,
    to: 1,
    overSamples: 0,
    onSamples: 4,
    offSamples: 4,
  })
  const p99 = { data_id: LATENCY_MAX, comparison_value: 5000, quantile: 0.99, delta_samples: 100 }
  assert.deepEqual(testOf(testRule('quantile_gt', p99)), {
    kind: 'quantile_gt',
    quantile: 0.99,
    value: 5000n,
    overSamples: 100,
    offSamples: 4,
  })
})

test('reads combinations of rules by name, wherever they stand', () => {
  const { book } = readRuleBook(
    rulesText([
      { name: 'both', comparison_type: 'all_of', rules: ['b', 'a'], within_ms: 2.5 },
      testRule('gt', { name: 'a', comparison_value: 1 }),
      testRule('lt', { name: 'b', comparison_value: 1, data_id: TX_BYTES }),
      { name: 'either', comparison_type: 'any_of', rules: ['a', 'b'] },
    ]),
  )
  assert.deepEqual(book.rules[0], { name: 'both', of: 'all', rules: [2, 1], withinNs: 2_500_000 })
  assert.deepEqual(book.rules[3], { name: 'either', of: 'any', rules: [1, 2], withinNs: 0 })
})

test('reads signals of any type of records, in the arithmetic of their field', () => {
  const signals = [
    { name: 'retries', type: 'rdma_hw', field: 'packet_seq_err', labels: { rdma_device: 'mlx5_0', port: '1' } },
    { name: 'queue', type: 'my_app', field: 'depth' },
  ]
  const rules = [
    { name: 'a', signal: 'queue', comparison_type: 'gt', comparison_value: 1.5 },
    { name: 'b', signal: 'queue', comparison_type: 'lt', comparison_value: 77 },
  ]
  const text = JSON.stringify({ sample_history_depth: 3, signals: signals.slice(1), rules }).replace(
    '77',
    '18446744073709551615',
  )
  const { book } = readRuleBook(text)
  assert.equal(book.samplePeriodNs, 0)
  assert.deepEqual(
    book.rules.map((rule) => 'test' in rule && 'value' in rule.test && rule.test.value),
    [1.5, 18446744073709551615n],
  )
  const faults = faultsOf(JSON.stringify({ sample_history_depth: 3, signals, rules }))
  assert.equal(faults.length, 1)
  assert.match(
    faults[0] ?? '',
    /^signals\[0\].field is "packet_seq_err"; allowed: a field of rdma_hw that is a single number: implied_nak_seq_err_total, .*, and \d+ others$/,
  )
})

/** Inputs that the reference's parser accepts, with the fault that this reader reports. */
const LOOSE: Readonly<Record<string, readonly [text: string, fault: string]>> = {
  'a number in quotes': [
    rulesText([testRule('gt', { comparison_value: '5' })]),
    `rules[0].comparison_value is "5"; allowed: a number`,
  ],
  'a fraction where samples are counted': [
    rulesText([testRule('gt', { comparison_value: 1.5 })]),
    `rules[0].comparison_value is 1.5; allowed: ${U64_ALLOWED}`,
  ],
  'a negative number': [
    rulesText([testRule('gt', { comparison_value: -5 })]),
    `rules[0].comparison_value is -5; allowed: ${U64_ALLOWED}`,
  ],
  'an exponent': [
    rulesText([testRule('gt', { comparison_value: 77 })]).replace('77', '1e6'),
    `rules[0].comparison_value is 1e6; allowed: ${U64_ALLOWED}`,
  ],
  'a number above 64 bits': [
    rulesText([testRule('gt', { comparison_value: 77 })]).replace('77', '18446744073709551616'),
    `rules[0].comparison_value is 18446744073709551616; allowed: ${U64_ALLOWED}`,
  ],
  'a data ID that is a number': [
    rulesText([testRule('gt', { comparison_value: 1, data_id: 1020000100000000 })]),
    `rules[0].data_id is 1020000100000000; allowed: ${DATA_ID_ALLOWED}`,
  ],
  'a data ID without 0x': [
    rulesText([testRule('gt', { comparison_value: 1, data_id: '1020000100000000' })]),
    `rules[0].data_id is "1020000100000000"; allowed: ${DATA_ID_ALLOWED}`,
  ],
  'text behind a data ID': [
    rulesText([testRule('gt', { comparison_value: 1, data_id: '0x1020000100000000, port 0' })]),
    `rules[0].data_id is "0x1020000100000000, port 0"; allowed: ${DATA_ID_ALLOWED}`,
  ],
  'a data ID that no entry has': [
    rulesText([testRule('gt', { comparison_value: 1, data_id: '0x1020000300000000' })]),
    'rules[0].data_id is "0x1020000300000000", which no entry of the file has; allowed: an ID of data-ids',
  ],
  'a name that is no text': [
    rulesText([testRule('gt', { comparison_value: 1, name: 5 })]),
    'rules[0].name is 5; allowed: text of 1 to 200 characters',
  ],
  null: [
    rulesText([testRule('gt', { comparison_value: null })]),
    'rules[0].comparison_value is null; allowed: a number',
  ],
  'an unknown key': [
    rulesText([testRule('gt', { comparison_value: 1, deactivate_sample: 3 })]),
    'rules[0].deactivate_sample is an unknown key (did you mean deactivate_samples?); allowed: ' +
      'name, data_id, signal, comparison_type, comparison_value, activate_samples, deactivate_samples',
  ],
  'a key twice': [
    rulesText([testRule('gt', { comparison_value: 1 })]).replace('"name":"r"', '"name":"r","name":"s"'),
    'rules[0].name is there twice; allowed: each key once',
  ],
  'a name twice': [
    rulesText([testRule('gt', { comparison_value: 1 }), testRule('lt', { comparison_value: 1 })]),
    'rules[1].name is "r", as rules[0] has it; allowed: text of 1 to 200 characters',
  ],
  'a period of 0': [
    rulesText([testRule('gt', { comparison_value: 1 })], { diag_sample_period_ns: 0 }),
    'diag_sample_period_ns is 0; allowed: a whole number from 1 to 4294967295 (nanoseconds), as digits',
  ],
  'a depth that is too large': [
    rulesText([testRule('gt', { comparison_value: 1 })], { sample_history_depth: 2 ** 30 }),
    'sample_history_depth is 1073741824; allowed: a whole number from 1 to 1000000 (samples), as digits',
  ],
}

for (const [looseness, [text, fault]] of Object.entries(LOOSE))
  test(`refuses ${looseness}, with its path, its value and what is allowed`, () => {
    assert.deepEqual(faultsOf(text), [fault])
  })

test('tells all faults at once, and at most 32', () => {
  const rules = Array.from({ length: 40 }, (_, index) => testRule('gt', { name: `r${index}`, comparison_value: -1 }))
  const faults = faultsOf(rulesText(rules))
  assert.equal(faults.length, 33)
  assert.equal(faults.at(-1), 'and 8 more faults')
})

test('tells every fault of a rule, also behind one that others follow from', () => {
  const broken = [
    { name: '', data_id: '0x9', comparison_type: 'gtt', activate_samples: 3, colour: 1 },
    { name: 'a', signal: 'nowhere', comparison_type: 'ratio_gt', comparison_value: 'x', to: 'no' },
    { data_id: RX_BYTES, comparison_type: 'gt', comparison_value: 1.5, activate_samples: 0 },
  ]
  const paths = faultsOf(rulesText(broken)).map((fault) => fault.split(' ')[0])
  assert.deepEqual(paths, [
    'rules[0].comparison_type',
    'rules[0].colour',
    'rules[0].name',
    'rules[0].data_id',
    'rules[1].comparison_value',
    'rules[1].signal',
    'rules[1].to',
    'rules[2].name',
    'rules[2].activate_samples',
    'rules[2].comparison_value',
  ])
})

test('refuses combinations of missing rules, of themselves, and of other combinations', () => {
  const a = testRule('gt', { name: 'a', comparison_value: 1 })
  const all = (name: string, rules: string[]) => ({ name, comparison_type: 'all_of', rules, within_ms: 1 })
  assert.deepEqual(faultsOf(rulesText([a, all('b', ['a', 'x']), all('c', ['a', 'b']), all('d', ['a', 'a'])])), [
    'rules[1].rules[1] is "x", which no rule has; allowed: the name of a rule of the file',
    'rules[2].rules[1] is "b", a combination; allowed: a rule on one signal',
    'rules[3].rules[1] is "a" again; allowed: each rule once',
  ])
})

test('warns of a level of a counter, a difference of a gauge, and a second that is none', () => {
  const { warnings } = readRuleBook(
    rulesText([
      testRule('gt', { name: 'a', comparison_value: 1 }),
      testRule('dt_gt', { name: 'b', comparison_value: 1, data_id: LATENCY_MAX }),
      testRule('dt_gt', { name: 'above 1 GB/s', comparison_value: 1e9, delta_samples: 1000 }),
      testRule('dt_gt', { name: 'one GB/s', comparison_value: 1e9, delta_samples: 10_000 }),
    ]),
  )
  assert.deepEqual(warnings, [
    'rules[0]: gt compares "rx" itself, a counter that only rises; rate_gt and dt_gt compare its increase',
    'rules[1]: dt_gt compares the increase of "latency", which is a gauge; gt and lt compare its value',
    'rules[2]: "above 1 GB/s" names a rate per second, but its 1000 samples span 0.1 s; rate_gt and rate_lt compare the increase per second',
  ])
})

test('takes names with commas, quotes, newlines and keys of Object', () => {
  for (const name of ['a,b', '"', 'x\ny', '__proto__', 'constructor', '😀'.repeat(200)]) {
    const { book } = readRuleBook(rulesText([testRule('gt', { name, comparison_value: 1 })]))
    assert.equal(book.rules[0]?.name, name)
  }
  assert.deepEqual(faultsOf(`{"__proto__":1,"sample_history_depth":1,"signals":[],"rules":[]}`).length, 3)
})
