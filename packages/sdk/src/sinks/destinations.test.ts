import assert from 'node:assert/strict'
import { test } from 'node:test'
import { block, check } from '../config/kit.ts'
import { leavesOf } from '../config/leaves.ts'
import { snakeOf } from '../config/spelling.ts'
import { checkDestinations, type DestinationRules, exportEntries } from './destinations.ts'
import { SINKS } from './registry.ts'

const AGENT = { spelling: 'snake', isAgent: true } as const
const PROGRAM = { spelling: 'camel', isAgent: false } as const
const url = 'http://127.0.0.1:4318/records'

function linesOf(given: object, rules: DestinationRules = AGENT, taken: readonly string[] = []): string[] {
  const exports = check(block(exportEntries(rules)), given, 'export')
  const checked = exports.ok ? checkDestinations(exports.value, rules, taken) : exports
  return checked.ok ? [] : checked.issues.map(({ path, fault, allowed }) => `${path} ${fault}; allowed: ${allowed}`)
}

function namesOf(given: object, rules: DestinationRules = AGENT): string[] {
  const exports = check(block(exportEntries(rules)), given, 'export')
  assert.ok(exports.ok)
  const checked = checkDestinations(exports.value, rules)
  assert.ok(checked.ok)
  return checked.value.map(({ definition, name, place }) => `${definition.name} ${name} ${place}`)
}

test('a kind is a block or a list of blocks, and has names of its own', () => {
  assert.deepEqual(namesOf({}), [])
  assert.deepEqual(namesOf({ jsonl: { url } }), ['jsonl jsonl export.jsonl'])
  assert.deepEqual(namesOf({ jsonl: [{ url }, { url }, { url, name: 'c' }], files: {} }), [
    'files files export.files',
    'jsonl jsonl export.jsonl[0]',
    'jsonl jsonl_2 export.jsonl[1]',
    'jsonl c export.jsonl[2]',
  ])
  const [tooMany = ''] = linesOf({ jsonl: Array(17).fill({ url }) })
  assert.match(tooMany, /^export\.jsonl is \[.*; allowed: a list of at most 16 blocks$/)
})

test('files and programs spell the same keys, each in its way', () => {
  const keysOf = (rules: DestinationRules) =>
    leavesOf(block(exportEntries(rules)), []).map(({ path, allowed }) => `${path.map(snakeOf).join('.')} ${allowed}`)
  assert.deepEqual(keysOf(PROGRAM), keysOf(AGENT))
  assert.deepEqual(linesOf({ jsonl: { url, lingerMs: 1, fieldSet: 'a' } }, PROGRAM), [])
  const [fault = ''] = linesOf({ jsonl: { url, lingerMs: 1 } })
  assert.match(
    fault,
    /^export\.jsonl\.lingerMs is an unknown key, with "\(secret\)" \(did you mean linger_ms\?\); allowed: name, /,
  )
})

test('what is wrong is said with its path and what is allowed, and never shows what may be secret', () => {
  const given = {
    jsonl: [
      { url: 'ftp://me:hush@there/?key=hush', header: { a: 'hush' }, timeout_ms: 'hush' },
      { url, headers: { 'a b': 'hush' }, field_set: ['[port'] },
      { url, headers: { a: 'hush\n' }, sources: [''], tags: 'hush' },
      'hush',
      { headers: {} },
    ],
    json: { url: 'hush' },
    fluent_bit: { host: 'me:hush@far', endpoints: ['me:hush@far:1'] },
  }
  const lines = linesOf(given)
  assert.doesNotMatch(lines.join('\n').replaceAll('"hush"; allowed: a whole', '').replace('tags is "hush"', ''), /hush/)
  const has = (pattern: RegExp) =>
    assert.ok(
      lines.some((line) => pattern.test(line)),
      `${pattern}\n${lines.join('\n')}`,
    )
  has(/^export\.jsonl\[0\]\.url is "ftp:\/\/\(secret\)@there\/?\?\(secret\)"; allowed: an address of http: or https:/)
  has(/^export\.jsonl\[0\]\.header is an unknown key, with "\(secret\)" \(did you mean headers\?\)/)
  has(/^export\.jsonl\[1\]\.field_set is \["\[port"\]; allowed: the lines of a field set; field_set:1:1 is no section/)
  has(/^export\.jsonl\[3\] is "\(secret\)"; allowed: a block with the keys name, /)
  has(/^export\.jsonl\[4\]\.url is missing; allowed: an address of http: or https:/)
  has(/^export\.fluent_bit\.host is "\(secret\)@far"; allowed: a host name or an address$/)
  has(/^export\.fluent_bit\.endpoints\[0\] is "\(secret\)@far:1"; allowed: /)
  has(/^export\.json is an unknown key, .* \(did you mean jsonl\?\); allowed: files, .*jsonl/)
})

test('changes of labels that contradict each other are refused', () => {
  const allowedOf = (labels: object) => linesOf({ jsonl: { url, labels } }).map((line) => line.split('; allowed: ')[1])
  assert.deepEqual(allowedOf({ rename: { a: 'c', b: 'c' } }), ['one label of the name c'])
  assert.deepEqual(allowedOf({ add: { c: 'x' }, rename: { a: 'c' } }), ['one label of the name c'])
  assert.deepEqual(allowedOf({ rename: { a: 'b' }, drop: ['a'] }), ['a in drop or in rename'])
  assert.match(allowedOf({ drop: ['simulated'] })[0] ?? '', /not simulated/)
  assert.deepEqual(allowedOf({ add: { cluster: 'x' }, rename: { a: 'b', b: 'a' }, drop: ['c'] }), [])
})

test('what was printed in place of a secret is none', () => {
  const printed = { url: 'http://there/?(secret)', headers: { authorization: '(secret)' } }
  assert.deepEqual(linesOf({ jsonl: printed }), [
    'export.jsonl.url is "http://there/?(secret)"; allowed: the secret itself, where a print-out has (secret)',
    'export.jsonl.headers is {"authorization":"(secret)"}; allowed: the secret itself, where a print-out has (secret)',
  ])
})

test('what shows only between destinations is said too', () => {
  const clash = { jsonl: { url, queue_limit_bytes: 65_536 }, files: [{ data_root: '/a' }, { data_root: '/a/' }] }
  assert.deepEqual(linesOf(clash), [
    'export.jsonl.batch_bytes_max is 1048576; allowed: at most the limit of the queue, 65536',
    'export.files[1] keeps its records in /a, as export.files[0] does; allowed: a place of its own',
  ])
  assert.deepEqual(linesOf({ files: [{ data_root: '/a' }, { data_root: '/a', enabled: false }] }), [])
  assert.deepEqual(linesOf({ jsonl: { url, name: 'store' } }, AGENT, ['store']), [
    'export.jsonl.name is "store", as a view of the agent has it; allowed: another name',
  ])
  assert.deepEqual(linesOf({ jsonl: [url, url].map((each) => ({ url: each, queue_dir: '/q' })) }), [
    'export.jsonl[1] keeps its records in /q, as export.jsonl[0] does; allowed: a place of its own',
  ])
  for (const rules of [AGENT, PROGRAM]) assert.deepEqual(linesOf({ jsonl: { url, acknowledges: true } }, rules), [])
})

test('a destination may get the core set and the last record of an interval; then no acknowledgement waits for it', () => {
  const files = { data_root: '/nowhere', set: 'core', interval_s: 15 }
  assert.deepEqual(linesOf({ files }), [])
  assert.deepEqual(linesOf({ jsonl: { url, set: 'full', intervalS: 0 } }, PROGRAM), [])
  assert.deepEqual(linesOf({ files: { ...files, acknowledges: true } }), [
    'export.files.acknowledges is true; allowed: false: with interval_s it does not get every record',
  ])
  assert.deepEqual(linesOf({ files: { set: 'most', interval_s: 3601 } }), [
    'export.files.set is "most"; allowed: one of core, full',
    'export.files.interval_s is 3601; allowed: a whole number from 0 to 3600 (seconds)',
  ])
})

test('every kind has a name for files, a summary, and a description of each key', () => {
  for (const { name, summary, entries } of SINKS) {
    assert.match(name, /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/)
    assert.match(summary, /^[A-Z].{10,}[^.]$/)
    for (const { path, description } of leavesOf(block(entries), []))
      assert.match(description, /^[A-Z].{8}/, path.join())
  }
})
