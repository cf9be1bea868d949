import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EventLane } from '@sonde/sdk/api'
import { orderWords, rankOnsets } from './onset-order.ts'
import { START_MS, testLane } from './test-lanes.ts'

const plain = (text: string): string => text.replace(/[\u00a0\u202f]/g, ' ')

const pci = testLane({ name: 'Link speed', kind: 'pci' })
const nic = testLane({ name: 'Sent', kind: 'nic' })
const gpu = testLane({ name: 'Tensor active', kind: 'gpu' })
const power = testLane({ name: 'Power', kind: 'gpu' })

function changed(lane: EventLane, earliestMs: number, latestMs: number) {
  const onset = { earliestMs: START_MS + earliestMs, latestMs: START_MS + latestMs, isRise: false, before: 2, after: 1 }
  return { lane, onset }
}

const ranksOf = (onsets: ReturnType<typeof rankOnsets>) =>
  onsets.map(({ lane, rankFirst, rankLast }) => [lane.name, rankFirst, rankLast])

test('stretches apart have one rank each', () => {
  const ranked = rankOnsets([changed(gpu, 250, 450), changed(pci, -130, -120), changed(nic, -7, -6)])
  assert.deepEqual(ranksOf(ranked), [
    ['Link speed', 1, 1],
    ['Sent', 2, 2],
    ['Tensor active', 3, 3],
  ])
})

test('a wide stretch leaves open what it overlaps, and nothing else', () => {
  const ranked = rankOnsets([
    changed(pci, -130, -120),
    changed(nic, -7, -6),
    changed(power, -100, 900),
    changed(gpu, 250, 450),
  ])
  assert.deepEqual(ranksOf(ranked), [
    ['Link speed', 1, 1],
    ['Sent', 2, 3],
    ['Tensor active', 3, 4],
    ['Power', 2, 4],
  ])
})

test('says PCIe before NIC before GPU where their stretches lie apart', () => {
  const ranked = rankOnsets([
    changed(power, -100, 900),
    changed(gpu, 250, 450),
    changed(pci, -130, -120),
    changed(nic, -7, -6),
  ])
  const { sentence, facts } = orderWords(ranked, 11, START_MS)
  assert.equal(sentence, 'PCIe changed first: Link speed.')
  assert.match(
    plain(facts),
    /^PCIe Link speed −125 ms ± 5 ms, then NIC Sent −6\.5 ms ± 500 µs, then GPU Tensor active \+350 ms/,
  )
  assert.match(plain(facts), /4 of 11 signals changed/)
})

test('says that the order is not known where the stretches overlap', () => {
  const ranked = rankOnsets([changed(pci, -130, -120), changed(nic, -125, -124)])
  const { sentence, facts } = orderWords(ranked, 2, START_MS)
  assert.equal(sentence, 'Which changed first is not known: PCIe Link speed, or NIC Sent.')
  assert.match(facts, / or .*their order is not known/)
})

test('kinds whose order is not known are said to be first where others surely follow them', () => {
  const ranked = rankOnsets([changed(pci, -130, -120), changed(nic, -125, -121), changed(gpu, 250, 450)])
  const { sentence } = orderWords(ranked, 3, START_MS)
  assert.equal(sentence, 'PCIe and NIC changed first; which signal is not known: PCIe Link speed, or NIC Sent.')
})

test('of signals of one kind it says the kind', () => {
  const received = testLane({ name: 'Received' })
  const { sentence } = orderWords(rankOnsets([changed(nic, -7, -6), changed(received, -6.5, -5)]), 2, START_MS)
  assert.equal(sentence, 'NIC changed first; which signal is not known: Sent, or Received.')
})

test('says that nothing changed', () => {
  assert.equal(orderWords([], 3, START_MS).sentence, 'No signal left its range before the event.')
})
