import assert from 'node:assert/strict'
import { test } from 'node:test'
import { amountWords, duration, hintDeviceTitle, percent, power } from './words.ts'

const plain = (text: string) => text.replaceAll('\u00a0', ' ')

test('amounts have three significant digits, a prefix, and a unit that stays with them', () => {
  assert.deepEqual(
    [0, 7, 99.96, 2400, 13.94e9, 999_900, -1500].map((value) => plain(amountWords(value))),
    ['0', '7', '100', '2.4 k', '13.9 G', '1 M', '−1.5 k'],
  )
  assert.equal(plain(amountWords(13.94e9, 'B')), '13.9 GB')
  assert.match(amountWords(2400), /2\.4\u00a0k/)
})

test('shares have one decimal, small numbers a power of ten, durations two units at most', () => {
  assert.equal(plain(percent(0.3124)), '31.2 %')
  assert.equal(plain(power(3.1e-6)), '3.1 × 10⁻⁶')
  assert.deepEqual(
    [880, 4300, 125_000, 120_000].map((value) => plain(duration(value))),
    ['0.88 s', '4.3 s', '2 min 5 s', '2 min'],
  )
})

test('what is not known is a dash, never NaN', () => {
  assert.deepEqual(
    [amountWords, percent, power].map((write) => write(Number.NaN)),
    ['–', '–', '–'],
  )
})

test('a second port is called by its number once', () => {
  const port = { kind: 'nic', rail: null, pairs: [] } as const
  assert.equal(hintDeviceTitle({ ...port, id: 'nic-mlx4_0-2', name: 'mlx4_0 port 2' }), 'mlx4_0/2')
  assert.equal(hintDeviceTitle({ ...port, id: 'nic-mlx5_3-1', name: 'mlx5_3' }), 'mlx5_3')
})
