import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Missing } from '../field-absences.ts'
import { parseAer } from './aer-text.ts'
import { bandwidthOf } from './bandwidth.ts'
import { classOf } from './names.ts'
import { isAddress, parseHexadecimal, parseNumaNode, parseSpeed, parseWidth } from './parse.ts'

const text = (value: string) => new TextEncoder().encode(value)

test('reads a link speed as every kernel spells it', () => {
  assert.equal(parseSpeed(text('16.0 GT/s PCIe\n')), 16e9)
  assert.equal(parseSpeed(text('16 GT/s\n')), 16e9)
  assert.equal(parseSpeed(text('2.5 GT/s\n')), 2.5e9)
  assert.equal(parseSpeed(text('64.0 GT/s PCIe\n')), 64e9)
  assert.equal(parseSpeed(text('Unknown\n')), 'unknown')
  assert.equal(parseSpeed(text('Unknown speed\n')), 'unknown')
  for (const wrong of ['', '\n', 'N/A\n', '-8 GT/s\n', '16\n', '16 MB/s\n', '0 GT/s\n', '1e9 GT/s\n']) {
    assert.equal(parseSpeed(text(wrong)), undefined, wrong)
  }
})

test('reads a width and a NUMA node, and nothing that only looks like one', () => {
  assert.equal(parseWidth(text('16\n')), 16)
  assert.equal(parseWidth(text('255\n')), 255)
  for (const wrong of ['', 'x16\n', '-1\n', '256\n', '16 8\n', '99999999999999999999\n']) {
    assert.equal(parseWidth(text(wrong)), undefined, wrong)
  }
  assert.ok(parseNumaNode(text('-1\n')) instanceof Missing)
  assert.equal(parseNumaNode(text('1\n')), 1)
  for (const wrong of ['', '-2\n', '-1 1\n', '65536\n']) assert.equal(parseNumaNode(text(wrong)), undefined, wrong)
})

test('reads a hexadecimal number with its prefix only', () => {
  assert.equal(parseHexadecimal(text('0x030200\n')), 0x030200)
  for (const wrong of ['', '030200\n', '0x\n', '0xzz\n', '0x1 0x2\n', '0x123456789\n', '-0x1\n']) {
    assert.equal(parseHexadecimal(text(wrong)), undefined, wrong)
  }
})

test('the bandwidth of every generation is what lanes and coding leave', () => {
  const bandwidths = [2.5e9, 5e9, 8e9, 16e9, 32e9, 64e9].map((speed) => bandwidthOf(speed, 1))
  assert.deepEqual(bandwidths, [250_000_000, 500_000_000, 984_615_384, 1_969_230_769, 3_938_461_538, 7_562_500_000])
  assert.equal(bandwidthOf(32e9, 16), 63_015_384_615)
  assert.equal(bandwidthOf(12e9, 16), undefined)
  assert.equal(bandwidthOf(undefined, 16), undefined)
})

test('maps both spellings of AER to one name, and keeps names that nobody knows', () => {
  const short = parseAer(text('RxErr 1\nBadTLP 2\nRollover 3\nNonFatalErr 4\nTOTAL_ERR_COR 9\n'))
  const long = parseAer(
    text('Receiver Error 1\nBad TLP 2\nRELAY_NUM Rollover 3\nAdvisory Non-Fatal 4\nTOTAL_ERR_COR 9\n'),
  )
  assert.deepEqual(long, short)
  assert.deepEqual(short.total, 9)
  const strange = parseAer(text('dev_cor_errs_bit[5] 7\nSome New Error 18446744073709551615\nTOTAL_ERR_FATAL 0\n'))
  assert.deepEqual(
    [...strange.errors],
    [
      ['dev_cor_errs_bit[5]', 7],
      ['Some New Error', 18446744073709551615n],
    ],
  )
})

test('keeps the sound lines of AER, and says which came first that is not', () => {
  const { errors, total, malformed } = parseAer(text('RxErr 1\nBadTLP N/A\n 5\nTimeout -1\nHeaderOF 2\n\n'))
  assert.deepEqual([...errors.keys()], ['RxErr', 'HeaderOF'])
  assert.equal(total, undefined)
  assert.equal(malformed, 'BadTLP N/A')
})

test('tells classes by code, and for some by vendor', () => {
  assert.equal(classOf(0x030200, '10de', '2330'), 'gpu')
  assert.equal(classOf(0x030000, '1a03', '2000'), 'display', 'that of a management controller')
  assert.equal(classOf(0x120000, '1002', '74a1'), 'gpu')
  assert.equal(classOf(0x120000, '1da3', '1020'), 'accelerator')
  assert.equal(classOf(0x020700, '15b3', '1021'), 'infiniband')
  assert.equal(classOf(0x020000, '15b3', 'a2dc'), 'dpu')
  assert.equal(classOf(0x010802, '144d', 'a824'), 'nvme')
  assert.equal(classOf(0x060400, '1000', 'c030'), 'bridge')
  assert.equal(classOf(0xff0000, '1af4', '1045'), 'other')
})

test('an address has its four parts, and as many digits of a domain as there are', () => {
  for (const sound of ['0000:9b:00.0', '10000:e1:1f.7']) assert.ok(isAddress(sound), sound)
  for (const wrong of ['9b:00.0', '0000:9b:20.0', '0000:9b:00.8', '../0000:9b:00.0', '0000:9B:00.0']) {
    assert.ok(!isAddress(wrong), wrong)
  }
})

test('random bytes are read as nothing, or as what they may mean, and never throw', () => {
  let seed = 11
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return (seed >>> 8) % below
  }
  const pieces = [
    '0x',
    'GT/s',
    ' ',
    '\n',
    '16',
    '-1',
    'TOTAL_ERR_COR',
    'BadTLP',
    'Bad TLP',
    'Unknown',
    '\0',
    '\xff',
    '9'.repeat(30),
  ]
  for (let round = 0; round < 20_000; round++) {
    const bytes = Buffer.from(Array.from({ length: random(8) }, () => pieces[random(pieces.length)]).join(''), 'latin1')
    const speed = parseSpeed(bytes)
    assert.ok(speed === undefined || speed === 'unknown' || (speed > 0 && Number.isFinite(speed)))
    const width = parseWidth(bytes)
    assert.ok(width === undefined || (Number.isInteger(width) && width >= 0 && width <= 255))
    assert.ok(Number.isInteger(parseHexadecimal(bytes) ?? 0))
    for (const [name, count] of parseAer(bytes).errors) assert.ok(name !== '' && count >= 0)
  }
})
