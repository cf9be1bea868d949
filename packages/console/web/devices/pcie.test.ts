import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDowntrained, linkReading, linkUseWords, linkWords } from './pcie.ts'

const GPU = { kind: 'gpu', limits: { pcie_bytes_per_s: 63e9 } } as const
const NIC = { kind: 'nic', limits: {} } as const

const of = (value: number): Float64Array => Float64Array.of(value)

/** A link of 32 GT/s and 16 lanes, with the given changes. */
function link(more: Parameters<typeof linkReading>[0] = {}) {
  return linkReading(
    {
      speed: of(32e9),
      speedMax: of(32e9),
      width: of(16),
      widthMax: of(16),
      bandwidth: of(63e9),
      pcieSent: of(29e9),
      pcieReceived: of(20e9),
      ...more,
    },
    GPU,
  )
}

test('a link that runs as it can says generation, lanes and how much of it is in use', () => {
  assert.equal(linkWords(link()), 'Gen5 ×16')
  assert.equal(linkUseWords(link()), '46\u00a0%')
  assert.equal(linkUseWords(link({ pcieSent: of(0), pcieReceived: of(0) })), '0.0\u00a0%')
})

test('a link that lost lanes or speed says what it should be', () => {
  assert.equal(linkWords(link({ width: of(8) })), 'Gen5 ×8 of ×16')
  assert.equal(linkWords(link({ speed: of(8e9) })), 'Gen3 ×16 of Gen5')
  assert.equal(linkWords(link({ speed: of(8e9), width: of(8) })), 'Gen3 ×8 of Gen5 ×16')
  assert.ok(isDowntrained(link({ width: of(8) })))
})

test('a GPU that is idle, or may be, slows its link down, which is no trouble; lost lanes are, and so is a slow link of a NIC', () => {
  const idle = link({ speed: of(2.5e9), pcieSent: of(1e6), pcieReceived: of(1e6) })
  assert.ok(!isDowntrained(idle))
  assert.equal(linkWords(idle), 'Gen1 ×16')
  const slow = { speed: of(8e9), speedMax: of(32e9), width: of(16), widthMax: of(16) }
  assert.ok(!isDowntrained(linkReading(slow, GPU)))
  assert.ok(isDowntrained(linkReading({ ...slow, width: of(8) }, GPU)))
  assert.ok(isDowntrained(linkReading(slow, NIC)))
})

test('what is not read is not spoken of', () => {
  assert.equal(linkWords(linkReading({}, GPU)), '')
  assert.equal(linkUseWords(linkReading({}, NIC)), '')
  assert.equal(linkUseWords(linkReading({ pcieSent: of(6.3e9) }, GPU)), '10\u00a0%')
})
