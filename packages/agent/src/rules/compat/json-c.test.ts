import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SondeError } from '@sonde/sdk'
import { needs } from '../../../../../test/debian.ts'
import { askJsonC } from '../../../../../test/doubles/json-c.ts'
import { Random, SEED } from '../../../../sdk/test/random.ts'
import { rulesText, testRule } from '../read/test-rules.ts'
import { strtoul } from './c-number.ts'
import { parseLenient, untilNul } from './lenient-json.ts'
import { printedString } from './printed-node.ts'

const hex = (text: string) => Buffer.from(untilNul(text), 'latin1').toString('hex')

/** What the oracle would say, by the reader under test. */
function answerOf(text: string): string {
  let root: ReturnType<typeof parseLenient>
  try {
    root = parseLenient(text)
  } catch (error) {
    assert.ok(error instanceof SondeError && error.code === 'RUL_COMPAT', `${JSON.stringify(text)}: ${error}`)
    return '-'
  }
  // A root of null is no object for json-c.
  const all = printedString(root)
  if (all === undefined) return '-'
  const lines = [`+${hex(all)}`]
  if (root.kind === 'object')
    for (const [key, value] of root.members) {
      const member = printedString(value)
      if (member === undefined) lines.push(`${hex(key)} null`)
      else lines.push(`${hex(key)} =${hex(member)} ${strtoul(untilNul(member), 10)} ${strtoul(untilNul(member), 16)}`)
    }
  return `${lines.join('\n')}\n`
}

function compare(texts: readonly string[]): number {
  const answers = askJsonC(texts)
  assert.equal(answers.length, texts.length)
  let accepted = 0
  for (const [index, text] of texts.entries()) {
    const ours = answerOf(text)
    if (ours !== '-') accepted++
    const theirs = answers[index] ?? ''
    assert.equal(ours, theirs.startsWith('-') ? '-' : theirs, JSON.stringify(text))
  }
  return accepted
}

const VALUES = [
  '0',
  '-0',
  '00',
  '007',
  '-007',
  '1',
  '-5',
  '1.5',
  '1.',
  '-.5',
  '.5',
  '1e6',
  '1E+6',
  '1e-6',
  '1e',
  '1e+',
  '1e-',
  '1.e',
  '1.-5',
  '1.+5',
  '1.5.',
  '1e5.',
  '1e5e',
  '1e1.',
  '-',
  '--1',
  '+1',
  '1-',
  '1+',
  '-e5',
  '-.',
  '1e400',
  '-1e400',
  '0x10',
  '1_0',
  '1I',
  '1i',
  '-Infinity',
  '-infinity',
  '-INFINITYx',
  '-inf',
  'Infinity',
  'INFINITY',
  'inf',
  'NaN',
  'nan',
  'NANx',
  'na',
  '-NaN',
  'null',
  'NULL',
  'Null',
  'nul',
  'nullx',
  'true',
  'TRUE',
  'tRuE',
  'tru',
  'truex',
  'false',
  'False',
  '18446744073709551615',
  '18446744073709551616',
  '99999999999999999999999999',
  '-9223372036854775808',
  '-9223372036854775809',
  '-99999999999999999999',
  '9223372036854775807',
  '9223372036854775808',
  '"5"',
  '" 5"',
  '"-5"',
  '"+5"',
  '"\\t5"',
  '"0x1f"',
  '"0xg"',
  '"1020000100000000, port"',
  '"99999999999999999999"',
  '"-99999999999999999999"',
  '"-1"',
  "'a'",
  "'a\"b'",
  '"a\'b"',
  '"a',
  "'a",
  '"a\\',
  '"\\u0041"',
  '"\\u0000"',
  '"a\\u0000b"',
  '"\\u00e9"',
  '"\\u20ac"',
  '"\\ud83d\\ude00"',
  '"\\ud83d"',
  '"\\ud83dx"',
  '"\\ud83d\\n"',
  '"\\ud83d\\x"',
  '"\\ud83d\\u0041"',
  '"\\ud83d\\ud83d\\ude00"',
  '"\\ude00"',
  '"\\u12"',
  '"\\uG000"',
  '"\\ud83d\\u12"',
  '"\\\'"',
  '"\\a"',
  '"\\/\\b\\f\\n\\r\\t"',
  '"/"',
  '"\n\t\x01"',
  '"\xff\xfe"',
  '"\x7f"',
  '[]',
  '[ ]',
  '[1]',
  '[1,]',
  '[,]',
  '[1,,2]',
  '[1 2]',
  '[1]]',
  '[',
  '[1',
  '[1,',
  '{}',
  '{"a":1}',
  '{"a":1,}',
  '{,}',
  '{"a"}',
  '{"a":}',
  '{"a" 1}',
  "{'a':1}",
  '{a:1}',
  '{"a":1 "b":2}',
  '{"a":1,"a":2}',
  '{"a":1,"b":2,"a":{"c":[1,"x/y",null,1.50]}}',
  '{"a\\u0000b":1}',
  '{"":1}',
  '{"\\u0000":1,"":2}',
] as const

const COMMENTS = [
  '/**/',
  '/* a */',
  '/***/',
  '/* **/',
  '/** */',
  '/*/',
  '/*',
  '//',
  '// a\n',
  '//\n',
  '/',
  '/x',
  '/* a',
  '// a',
  '/*a*b*/',
  '/*a**b*/',
  '\v',
  '\f',
  '\u0000',
  ' \t\r\n',
] as const

test('accepts the same texts as json-c and reads equal values, numbers and texts', needs('cc', 'json-c'), () => {
  const accepted = compare(
    VALUES.flatMap((value) => [
      value,
      `{"v":${value}}`,
      `{"v":${value} }`,
      `{"v": ${value},"w":1}`,
      `{"v":${value}/**/}`,
      `[${value}]`,
      `[${value},${value}]`,
      `${value} trailing`,
      `${value}{`,
      `${value}\0 ]`,
      `\xef\xbb\xbf${value}`,
      `{"v":[${value}],"w":{"x":${value}}}`,
    ]),
  )
  assert.ok(accepted > 300, `${accepted}`)
})

test('takes comments and blanks where json-c takes them', needs('cc', 'json-c'), () => {
  const accepted = compare(
    COMMENTS.flatMap((comment) => [
      comment,
      `${comment}{"v":1}`,
      `{${comment}"v":1}`,
      `{"v"${comment}:1}`,
      `{"v":${comment}1}`,
      `{"v":1${comment}}`,
      `{"v":1${comment},"w":2}`,
      `{"v":1,${comment}"w":2}`,
      `{"v":1,${comment}}`,
      `{"v":1}${comment}`,
      `{"v":1}${comment}x`,
      `{"v":1} ${comment} /`,
      `[1,${comment}2]`,
      `[${comment}]`,
      `1${comment}`,
      `"a${comment}b"`,
    ]),
  )
  assert.ok(accepted > 100, `${accepted}`)
})

test('refuses as many levels as json-c refuses', needs('cc', 'json-c'), () => {
  const nested = (levels: number, open: string, inner: string, close: string) =>
    open.repeat(levels) + inner + close.repeat(levels)
  const levels = [1, 2, 29, 30, 31, 32, 33, 34, 100]
  compare(
    levels.flatMap((count) => [
      nested(count, '[', '', ']'),
      nested(count, '[', '1', ']'),
      nested(count, '{"a":', '1', '}'),
      nested(count, '{"a":[', '', ']}'),
      nested(count, '[', '{}', ']'),
    ]),
  )
})

test('reads thousands of damaged files of rules as json-c does', needs('cc', 'json-c'), () => {
  const random = new Random(SEED)
  const seeds = [
    rulesText([testRule('gt', { comparison_value: 1 })]),
    `{/* a */'diag_sample_period_ns': "100", // b\n"sample_history_depth": 0016.5e, "v": [1,{"a":NaN,},], "w": -Infinity}`,
    '{"a":"\\ud83d\\ude00\\u0041","b":[[],{}],"c":nUll,"d":-99999999999999999999,"e":18446744073709551616}',
  ]
  const pieces = [...COMMENTS, ...VALUES, ',', ':', '{', '}', '[', ']', '"', "'", '\\', 'e', '.', '-', '\xff']
  const texts = Array.from({ length: 15_000 }, () => {
    let text = random.pick(seeds)
    for (let edits = random.integer(1, 3); edits > 0; edits--) {
      const at = random.integer(0, text.length)
      const piece = random.chance(0.3) ? '' : random.pick(pieces)
      text = text.slice(0, at) + piece + text.slice(at + random.integer(0, 3))
    }
    return text
  })
  const accepted = compare(texts)
  assert.ok(accepted > 1500 && accepted < 13_500, `${accepted}`)
})
