import assert from 'node:assert/strict'
import { test } from 'node:test'
import { docaPhyType } from '../../sources/doca-telemetry-phy/type.ts'
import { rdmaHwFirstType, rdmaHwType, rdmaPortType } from '../../sources/rdma/type.ts'
import { counterSignal, gaugeSignal } from './signal.ts'
import { SignalWindow } from './window.ts'

const T0 = Date.UTC(2026, 0, 1)
const errors = counterSignal(rdmaHwFirstType, 'packet_seq_err_total', { past: 'events' })
const bytes = counterSignal(rdmaPortType, 'xmit_data_bytes_total', { past: 'mean' })
const gauge = gaugeSignal(docaPhyType, 'raw_bit_error_ratio', { past: 'mean' })

/** A window of samples a second apart. */
function filled(signal: typeof errors, values: readonly number[], fromMs = T0): SignalWindow {
  const window = new SignalWindow(signal)
  values.forEach((value, i) => void window.push(fromMs + i * 1000, value, false))
  return window
}

test('a rate is that of the time asked for, a shorter one where there is less', () => {
  const window = filled(errors, [0, 10, 20, 120, 220])
  assert.equal(window.rate(1000), 100)
  assert.equal(window.rate(3000), 70)
  assert.equal(window.rate(60_000), 55)
  assert.equal(window.increase(2000), 200)
  assert.equal(window.peak(60_000), 100)
  assert.ok(Number.isNaN(filled(errors, [5]).rate(1000)), 'one sample is no rate')
})

test('a missed sample leaves the rate as it is', () => {
  const window = new SignalWindow(errors)
  for (const second of [0, 1, 3, 4]) window.push(T0 + second * 1000, second * 100, false)
  assert.equal(window.rate(3000), 100)
})

test('the restart of a counter restarts the window, without an increase', () => {
  const window = filled(errors, [5000, 5001, 5002, 3, 4])
  assert.equal(window.increase(60_000), 1)
  assert.equal(window.past?.total(), 3)
  assert.equal(window.brokeMs, T0 + 3000)
})

test('a step that no device can make is no gain', () => {
  const window = filled(errors, [0, 1, 2 ** 32 + 2, 2 ** 32 + 3])
  assert.equal(window.increase(60_000), 1)
})

test('a step of the clock in either direction, and a long pause, restart the window', () => {
  for (const stepMs of [-3_600_000, -1, 0, 3_600_000, 60_000]) {
    const window = filled(bytes, [0, 1e9, 2e9])
    window.push(T0 + 2000 + stepMs, 9e9, false)
    assert.equal(window.samplesSince(0), 1, `a step of ${stepMs} ms`)
    window.push(T0 + 3000 + stepMs, 10e9, false)
    assert.equal(window.rate(60_000), 1e9)
  }
})

test('samples that come faster than rules look are passed over, and their gain is kept', () => {
  const window = new SignalWindow(errors)
  for (let i = 0; i <= 1000; i++) window.push(T0 + i * 10, i, false)
  assert.ok(window.samplesSince(0) < 25, `${window.samplesSince(0)} samples`)
  assert.ok(Math.abs(window.rate(3000) - 100) < 1e-9)
})

test('it holds two minutes at a sample a second, and forgets the oldest', () => {
  const window = filled(
    gauge,
    Array.from({ length: 500 }, (_, i) => i),
  )
  assert.equal(window.samplesSince(0), 128)
  assert.equal(window.max(1e9), 499)
  assert.equal(window.min(1e9), 499 - 127)
  assert.equal(window.mean(2000), 498.5)
})

test('a value is fresh for three and a half periods, and not after the clock was set back', () => {
  const window = filled(gauge, [1, 1])
  assert.ok(window.isFresh(T0 + 4000))
  assert.ok(!window.isFresh(T0 + 5000))
  assert.ok(!window.isFresh(T0 - 10_000))
})

test('the past mean covers ten minutes, does not move while frozen, and needs its least history', () => {
  const window = new SignalWindow(gauge)
  for (let i = 0; i < 1200; i++) window.push(T0 + i * 1000, i < 600 ? 100 : 1, false)
  const { past } = window
  assert.ok(Math.abs((past?.mean(0) ?? 0) - 1) < 0.1, 'what is older than ten minutes is forgotten')
  for (let i = 1200; i < 1300; i++) window.push(T0 + i * 1000, 1000, true)
  assert.ok(Math.abs((past?.mean(0) ?? 0) - 1) < 0.1)
  assert.ok(Number.isNaN(filled(gauge, [1, 1, 1]).past?.mean(60_000)))
})

test('a series that is read in turns keeps its rate from one turn to the next, also where turns become longer', () => {
  const window = new SignalWindow(counterSignal(rdmaHwType, 'local_ack_timeout_err_total'))
  let seconds = 0
  for (const turn of [1, 1, 1, 8, 8, 11, 3, 11, 11, 40, 40]) {
    seconds += turn
    window.push(T0 + seconds * 1000, 60 * seconds, false)
    if (seconds === 1) continue
    assert.deepEqual([window.rate(1000), window.rate(3000)], [60, 60])
    assert.ok(window.isFresh(T0 + (seconds + 2 * turn) * 1000))
  }
})

test('not a number is no sample', () => {
  const window = filled(gauge, [1, Number.NaN, Number.POSITIVE_INFINITY, 3])
  assert.equal(window.mean(60_000), 2)
})
