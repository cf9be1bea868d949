import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fuzzFieldSet } from '../../test/field-set-fuzz.ts'
import { sondeError } from '../../test/helper.ts'
import { Random, SEED } from '../../test/random.ts'
import { buckets, counter, gauge, label, text, timestamp } from '../schema/field.ts'
import { defineType, type RecordType } from '../schema/record-type.ts'
import { bothSets, createFieldSet } from './fieldset.ts'
import { inlineSet } from './inline-set.ts'
import type { FieldSetKind } from './parse.ts'
import { type Expression, parseExpression, type Token } from './tokens.ts'

const port = defineType('port', 'A port', {
  time: timestamp(),
  device: label(),
  xmit_bytes_total: counter('u64'),
  rcv_bytes_total: counter('u64'),
  xmit_discards_total: counter('u64', { metric: 'discards_xmit_total' }),
  speed: gauge('f64'),
  latency: buckets('u64', [1, 2]),
  latency_sum: gauge('f64'),
  driver: text(),
})
const event = defineType('link_event', 'An event', {
  time: timestamp(),
  device: label(),
  'a-b': gauge('u32'),
  code: gauge('u32'),
})

function passing(kind: FieldSetKind, text: string, type: RecordType = port): string {
  return createFieldSet(kind, text, `a.${kind}`)
    .of(type)
    .slots.map(({ name }) => name)
    .join(' ')
}

function faultOf(kind: FieldSetKind, text: string): string {
  try {
    createFieldSet(kind, text, `a.${kind}`)
  } catch (error) {
    return `${(error as { code: string }).code} ${(error as Error).message}`
  }
  return 'none'
}

test('a token is looked for anywhere, at the start, at the end, or is the whole name', () => {
  assert.equal(passing('cset', 'xmit'), 'time device xmit_bytes_total xmit_discards_total')
  assert.equal(passing('cset', '^port_xmit'), 'time device xmit_bytes_total')
  assert.equal(passing('cset', 'speed$'), 'time device speed')
  assert.equal(passing('cset', '^port_speed$'), 'time device speed')
  assert.equal(passing('cset', '^speed$'), '')
})

test('+ and - ask for all of them and none of them, and lines add up', () => {
  assert.equal(passing('cset', 'port+total-rcv'), 'time device xmit_bytes_total')
  assert.equal(passing('cset', '-total-latency'), 'time device speed')
  assert.equal(passing('cset', 'speed # how fast\n\n# nothing\n  rcv\t'), 'time device rcv_bytes_total speed')
})

test('a .cset goes by the name of the metric, of which a histogram is one with its sum', () => {
  assert.equal(passing('cset', '^discards_'), 'time device xmit_discards_total')
  assert.equal(passing('cset', '^port_latency$'), 'time device latency latency_sum')
  assert.equal(passing('cset', 'driver'), '')
})

test('a file that says nothing lets everything pass, and ^$ lets nothing pass', () => {
  for (const kind of ['cset', 'fset'] as const) {
    assert.equal(createFieldSet(kind, '# later\n', 'a').of(port).isWhole, true)
  }
  assert.equal(passing('cset', '^$'), '')
})

test('a .fset goes by the name of the field within its sections; an empty section is all of its type, other types are left out', () => {
  assert.equal(passing('fset', '[port]\n^speed$\n'), 'time device speed')
  assert.equal(passing('fset', '[link_*]\n[port]\nspeed', event), 'time device a-b code')
  assert.equal(passing('fset', '[*]\ncode', event), 'time device code')
  assert.equal(passing('fset', '[port]\n[link_event]\ncode\n[link_event]\n^a', event), 'time device a-b code')
  assert.equal(passing('fset', '[por]\n', port), '')
})

test('a backslash takes the meaning away', () => {
  assert.equal(passing('fset', '[link_event]\na\\-b', event), 'time device a-b')
  assert.equal(passing('fset', '[link_event]\na-b', event), '')
})

test('a name that two files have: the .fset decides on types that it names, the .cset on the others', () => {
  const both = bothSets(
    createFieldSet('cset', 'speed', 'a.cset'),
    createFieldSet('fset', '[link_event]\ncode', 'a.fset'),
  )
  assert.deepEqual(
    both.of(port).slots.map(({ name }) => name),
    ['time', 'device', 'speed'],
  )
  assert.deepEqual(
    both.of(event).slots.map(({ name }) => name),
    ['time', 'device', 'code'],
  )
})

test('what is wrong is said with file, line, column and what is allowed', () => {
  assert.equal(
    faultOf('cset', 'port\n  por^t'),
    'SET_SYNTAX a.cset:2:6 is ^ inside a token; allowed: it begins a token, or is written \\^',
  )
  assert.match(faultOf('cset', 'port+'), /^SET_SYNTAX a\.cset:1:6 is where a token is missing; allowed: text/)
  assert.match(faultOf('cset', 'a--b'), /a\.cset:1:3 is where a token is missing/)
  assert.match(faultOf('cset', '^'), /a\.cset:1:1 is where a token is missing/)
  assert.match(faultOf('cset', 'a$b'), /a\.cset:1:3 is "b" after \$; allowed: the end of the line, \+ or -/)
  assert.match(faultOf('cset', 'a b'), /a\.cset:1:2 is a blank inside an expression/)
  assert.match(faultOf('cset', 'alias_a=b'), /a\.cset:1:8 is =, but nothing is renamed/)
  assert.match(faultOf('cset', 'a\\'), /a\.cset:1:2 is a backslash with nothing after it/)
  assert.match(faultOf('cset', 'a\0'), /a\.cset:1:2 is a control character/)
  assert.match(faultOf('cset', '[port]'), /a\.cset:1:1 is a section; allowed: tokens; sections are for \.fset/)
  assert.match(faultOf('fset', 'a\n[port]'), /a\.fset:1:1 is a token before any section/)
  assert.match(faultOf('fset', '[po rt]'), /a\.fset:1:1 is no section; allowed: the name of a type in brackets/)
  assert.match(faultOf('fset', '[po*rt]'), /is no section/)
})

test('files have a size', () => {
  assert.match(faultOf('cset', 'a'.repeat(70_000)), /^SET_LIMIT a\.cset is larger than 65536 bytes/)
  assert.match(faultOf('cset', '\n'.repeat(5000)), /^SET_LIMIT a\.cset has more than 4096 lines/)
  assert.match(
    faultOf('cset', `${'a+'.repeat(64)}a`),
    /^SET_SYNTAX a\.cset:1:\d+ is one token too many; allowed: 64 tokens a line/,
  )
  assert.match(
    faultOf('cset', `${'a+'.repeat(9)}a\n`.repeat(500)),
    /^SET_LIMIT a\.cset:103 has one token too many; allowed: 1024/,
  )
  assert.match(faultOf('fset', '[a]\n'.repeat(300)), /^SET_LIMIT a\.fset:257 is one section too many; allowed: 256/)
})

test('an expression that is written down is read back as it was, whatever its tokens hold', () => {
  const random = new Random(7)
  const characters = [...'ab_-+^$\\#=[] \té']
  const token = (): Token => {
    const length = random.integer(1, 6)
    const text = Array.from({ length }, () => random.pick(characters)).join('')
    return { text, begins: random.chance(0.3), ends: random.chance(0.3) }
  }
  const written = ({ text, begins, ends }: Token) =>
    `${begins ? '^' : ''}${text.replace(/[^a-z_]/g, '\\$&')}${ends ? '$' : ''}`
  for (let i = 0; i < 5000; i++) {
    const all = Array.from({ length: random.integer(0, 4) }, token)
    const none = Array.from({ length: random.integer(all.length === 0 ? 1 : 0, 3) }, token)
    const line = all.map(written).join('+') + none.map((each) => `-${written(each)}`).join('')
    assert.deepEqual(parseExpression(`  ${line} # and so on`), { all, none } satisfies Expression, line)
  }
})

test(`random text is a filter or an error of ours, 50 000 times (seed ${SEED})`, () => {
  const random = new Random(SEED)
  let filters = 0
  for (let i = 0; i < 50_000; i++) if (fuzzFieldSet(random, port)) filters++
  assert.ok(filters > 1000 && filters < 49_000, `${filters} filters of 50000`)
})

test(`long lists let the same names pass as their lines do one by one (seed ${SEED})`, () => {
  const random = new Random(SEED)
  const word = (longest: number) =>
    Array.from({ length: random.integer(1, longest) }, () => random.pick([...'ab_'])).join('')
  const names = [...new Set(Array.from({ length: 200 }, () => `a${word(12)}`))]
  const type = defineType('t', '', Object.fromEntries(names.map((name) => [name, gauge('u32')])))
  const line = () => {
    const tokens = Array.from({ length: random.integer(1, 3) }, () => ({
      sign: random.chance(0.3) ? '-' : '+',
      token: `${random.chance(0.2) ? '^' : ''}${word(random.chance(0.1) ? 80 : 6)}${random.chance(0.2) ? '$' : ''}`,
    }))
    const text = tokens
      .map(({ sign, token }) => sign + token)
      .join('')
      .replace(/^\+/, '')
    const fits = (name: string) => tokens.every(({ sign, token }) => new RegExp(token).test(name) === (sign === '+'))
    return { text, fits }
  }
  for (let i = 0; i < 60; i++) {
    const lines = Array.from({ length: random.integer(1, 200) }, line)
    const expected = names.filter((name) => lines.some(({ fits }) => fits(name)))
    const text = lines.map((each) => each.text).join('\n')
    assert.equal(passing('fset', `[t]\n${text}`, type), expected.join(' '), text)
  }
})

test('a long list of whole names is no matter of tokens', () => {
  const names = Array.from({ length: 3000 }, (_, i) => `^port_n${i}$`)
  assert.equal(passing('cset', [...names, '^port_speed$'].join('\n')), 'time device speed')
})

test('lines of a list: before the first section a .cset, from it on a .fset, which decides on its types', () => {
  const names = (lines: readonly string[], type: RecordType) =>
    inlineSet(lines)
      .of(type)
      .slots.map(({ name }) => name)
  const types = ['port', 'nic'].map((name) =>
    defineType(name, '', { rx: gauge('u32', { help: 'Rx' }), tx: gauge('u32', { help: 'Tx' }) }),
  )
  const [port, nic] = types as unknown as [RecordType, RecordType]
  const both = ['# counters', '_rx$', '[port]', '^tx$']
  assert.deepEqual([names(both, port), names(both, nic)], [['tx'], ['rx']])
  assert.deepEqual([names(['_rx$'], port), names(['_rx$'], nic)], [['rx'], ['rx']])
  assert.deepEqual([names(['# one type', '[port]'], port), names(['# one type', '[port]'], nic)], [['rx', 'tx'], []])
  assert.throws(() => inlineSet(['_rx$', '[port]', '[', 'x']), sondeError('SET_SYNTAX', /^field_set:3:1 is no section/))
})
