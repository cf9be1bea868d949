import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  countText,
  formatAxis,
  formatIn,
  formatQuantity,
  groupThousands,
  joinUnit,
  NO_BREAK_SPACE,
  pickUnit,
} from './number.ts'
import { BIT_ERROR_RATIO, BITS_PER_SECOND, BYTES, COUNT, PER_SECOND, PERCENT, SECONDS, UP_OR_DOWN } from './quantity.ts'

const spaced = (text: string): string => text.replaceAll(NO_BREAK_SPACE, ' ').replaceAll('\u202f', '_')

test('rates of bytes are written as bits with decimal prefixes', () => {
  assert.equal(spaced(formatQuantity(BITS_PER_SECOND, 39_750_000_000)), '318 Gb/s')
  assert.equal(spaced(formatQuantity(BITS_PER_SECOND, 191_250_000_000)), '1.53 Tb/s')
  assert.equal(spaced(formatQuantity(BITS_PER_SECOND, 125)), '1.00 kb/s')
})

test('memory is written with binary prefixes', () => {
  assert.equal(spaced(formatQuantity(BYTES, 71.6 * 1024 ** 3)), '71.6 GiB')
  assert.equal(spaced(formatQuantity(BYTES, 512)), '512 B')
})

test('a bare rate keeps its stroke close, and a percentage has one digit', () => {
  assert.equal(formatQuantity(PER_SECOND, 12), '12/s')
  assert.equal(spaced(formatQuantity(PERCENT, 0.123)), '12.3 %')
  assert.equal(spaced(formatQuantity(PERCENT, 0)), '0.0 %')
})

test('short times go down to nanoseconds, and error rates are powers of ten', () => {
  assert.equal(spaced(formatQuantity(SECONDS, 2.6e-7)), '260 ns')
  assert.equal(spaced(formatQuantity(SECONDS, 0.0125)), '12.5 ms')
  assert.equal(spaced(formatQuantity(SECONDS, 0)), '0 s')
  assert.equal(formatQuantity(BIT_ERROR_RATIO, 4.39e-8), '4.4e−8')
  assert.equal(formatQuantity(BIT_ERROR_RATIO, 1.5e-254), '< 1e−18')
  assert.equal(formatAxis(pickUnit(BIT_ERROR_RATIO, 1), 1e-12), '1e−12')
  assert.equal(formatQuantity(UP_OR_DOWN, 0), 'down')
})

test('zero, absence, what is too small and what has no bound are told apart', () => {
  const unit = pickUnit(PER_SECOND, 1)
  assert.equal(formatIn(unit, 0), '0')
  assert.equal(formatIn(unit, Number.NaN), '–')
  assert.equal(formatIn(unit, 0.001), '< 0.01')
  assert.equal(formatIn(unit, Number.POSITIVE_INFINITY), '∞')
  assert.equal(formatIn(unit, -3.5), '−3.5')
  assert.equal(joinUnit('–', 'Gb/s'), '–')
})

test('seconds are never scaled', () => {
  assert.equal(spaced(formatQuantity(SECONDS, 12_345)), '12_345 s')
})

test('a unit stays until the largest value is ten times too small, or needs five digits', () => {
  const mega = pickUnit(BITS_PER_SECOND, 50e6 / 8)
  assert.equal(mega.label, 'Mb/s')
  assert.equal(pickUnit(BITS_PER_SECOND, 5000e6 / 8, mega), mega)
  assert.equal(pickUnit(BITS_PER_SECOND, 0.2e6 / 8, mega), mega)
  assert.equal(pickUnit(BITS_PER_SECOND, 8000e6 / 8, mega).label, 'Gb/s', 'the top of an axis would be 10_000')
  assert.equal(pickUnit(BITS_PER_SECOND, 0.05e6 / 8, mega).label, 'kb/s')
  assert.equal(pickUnit(BITS_PER_SECOND, 20_000e6 / 8, mega).label, 'Gb/s')
  assert.equal(pickUnit(PER_SECOND, 1, mega).label, '/s')
  assert.equal(pickUnit(BITS_PER_SECOND, 0, mega), mega, 'nothing is of no size')
})

test('digits are grouped by threes from five on, however many there are', () => {
  assert.equal(spaced(groupThousands('18446744073709551615')), '18_446_744_073_709_551_615')
  assert.equal(groupThousands('9999'), '9999')
  assert.equal(spaced(groupThousands('10000.25')), '10_000.25')
  assert.equal(spaced(groupThousands('-12345')), '-12_345')
})

test('an axis has as few digits as tell its labels apart', () => {
  const unit = pickUnit(COUNT, 1)
  assert.equal(formatAxis(unit, 0.5), '0.5')
  assert.equal(formatAxis(unit, 0), '0')
  assert.equal(formatAxis(pickUnit(BITS_PER_SECOND, 1e9), 25e6), '0.2')
})

test('one thing and many things are named as such', () => {
  assert.equal(spaced(countText(1, 'interface')), '1 interface')
  assert.equal(spaced(countText(12_000, 'series', 'series')), '12_000 series')
})
