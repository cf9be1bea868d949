import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sampleFile } from '../../packages/sdk/test/dtb-sample.ts'
import { Random, SEED } from '../../packages/sdk/test/random.ts'
import { assertFlipHolds, assertPrefixHolds, decode } from './damage.ts'
import { lyingTypes } from './lying-types.ts'

test(`every prefix of a file holds up to its last whole block (seed ${SEED})`, async () => {
  const sample = await sampleFile(new Random(SEED), 12)
  for (let length = 0; length <= sample.bytes.length; length++) assertPrefixHolds(sample, length)
})

test(`every single byte of a file may be another: what is before is read, it is told, and salvage reads the rest (seed ${SEED})`, async () => {
  const random = new Random(SEED)
  const sample = await sampleFile(random, 12)
  for (let place = 0; place < sample.bytes.length; place++) assertFlipHolds(sample, place, 1 << random.integer(0, 7))
})

test(`types that somebody made up are refused, or read as what they say (seed ${SEED})`, () => {
  const random = new Random(SEED)
  let refused = 0
  for (let i = 0; i < 2000; i++) {
    const { end } = decode(lyingTypes(random), { salvage: false })
    if (end.state === 'damaged') {
      assert.match(end.fault?.code ?? '', /^DTB_(CONTENT|LIMIT)$/)
      refused++
    }
  }
  assert.ok(refused > 200 && refused < 1800, `${refused} of 2000 are refused`)
})
