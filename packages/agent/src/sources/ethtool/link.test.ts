import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'
import type { LinkSettings } from '../../native/ethtool.ts'
import { linkOf } from './link.ts'

const HEADER = '/usr/include/linux/ethtool.h'
const NONE = [0, 0, 0, 0]

/** Masks in which some bits are set. */
function mask(...bits: number[]): number[] {
  const words = [...NONE]
  for (const bit of bits) words[bit >> 5] = ((words[bit >> 5] ?? 0) | (1 << (bit & 31))) >>> 0
  return words
}

const settings = (given: Partial<LinkSettings>): LinkSettings => ({
  speedMbit: 400_000,
  duplex: 1,
  port: 3,
  autonegotiation: 0,
  supported: NONE,
  advertised: NONE,
  partnerAdvertised: NONE,
  ...given,
})

test('lanes are those of each mode from 20 Gbit/s on that the kernel of this machine names', {
  skip: fs.existsSync(HEADER) ? false : `${HEADER} is not there; install linux-libc-dev`,
}, () => {
  const modes = fs.readFileSync(HEADER, 'utf8').matchAll(/ETHTOOL_LINK_MODE_(\d+)base[A-Z]+(\d*)\w*_BIT\s*=\s*(\d+)/g)
  const checked = [...modes].filter(([, speed, lanes, bit]) => {
    const speedMbit = Number(speed)
    if (speedMbit < 20_000) return false
    assert.equal(linkOf(settings({ speedMbit, supported: mask(Number(bit)) })).lanes, Number(lanes || 1), `bit ${bit}`)
    return true
  })
  assert.ok(checked.length > 50)
})

test('modes with different numbers of lanes leave it open, unless both sides advertise one of them', () => {
  const [eight, four] = [72, 88]
  const both = mask(eight, four)
  assert.equal(linkOf(settings({ supported: both })).lanes, undefined)
  assert.equal(linkOf(settings({ supported: both, advertised: both })).lanes, undefined)
  assert.equal(linkOf(settings({ supported: both, advertised: both, partnerAdvertised: mask(four) })).lanes, 4)
  assert.equal(linkOf(settings({ supported: both, advertised: mask(eight) })).lanes, 8)
  assert.equal(linkOf(settings({ speedMbit: 100_000, supported: both })).lanes, undefined)
})

test('what the driver does not know is absent, not a number', () => {
  for (const speedMbit of [0, 0xffffffff]) {
    const link = linkOf(settings({ speedMbit, duplex: 255, port: 42, autonegotiation: 2, supported: mask(88) }))
    assert.deepEqual(
      Object.values(link).filter((value) => value !== undefined),
      [],
    )
  }
  assert.equal(linkOf(settings({ speedMbit: 800_000 })).speed_bytes_per_second, 100_000_000_000)
})
