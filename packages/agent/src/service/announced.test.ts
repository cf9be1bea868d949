import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineType, value } from '@sonde/sdk'
import { definitionOf, type LinkReader } from '@sonde/sdk/internal'
import { sondeError } from '../../../sdk/test/helper.ts'
import { announcedBy } from './announced.ts'
import { HeldMemory } from './held-memory.ts'
import { KnownTypes } from './known-types.ts'

const LIMITS = { clients: 4, total_bytes: 4 << 20 }
const SOURCE = { kind: 'source', key: 0, info: { id: 'a', tag: '', labels: {}, intervalMs: 0 } } as const

const CLAIMS = { ownKinds: new Set<string>(), onIgnored: () => undefined }

function entry(index: number) {
  const type = defineType(`t${index}`, '', { n: value('u8') })
  return { kind: 'type', key: index, fingerprint: type.fingerprint, definition: definitionOf(type) } as const
}

test('a type that is announced after the connection ended is not kept', () => {
  const known = new KnownTypes([], LIMITS.clients, CLAIMS)
  const share = known.open()
  const announced = announcedBy(share, { memory: new HeldMemory(LIMITS), heldBytesMax: 1 << 20 })
  announced.take(entry(0))
  assert.equal(known.count, 1)
  announced.close()
  share.close()
  for (let index = 1; index < 100; index++) announced.take(entry(index))
  assert.equal(known.count, 0)
})

test('clients that announce a lot share a limit, and leave each other client its share', () => {
  const memory = new HeldMemory(LIMITS)
  const client = () => announcedBy(new KnownTypes([], LIMITS.clients, CLAIMS).open(), { memory, heldBytesMax: 2 << 20 })
  /** Announces texts of 4000 bytes until the limit is reached, or `most` are known. Returns their number. */
  const fill = (announced: LinkReader, most: number): number => {
    announced.take(SOURCE)
    let texts = 0
    try {
      for (; texts < most; texts++)
        announced.take({ kind: 'symbols', source: 0, firstId: texts, texts: [`${texts}`.padEnd(1976, 'x')] })
    } catch (error) {
      sondeError('IPC_LIMIT')(error)
    }
    return texts
  }
  const [greedy, second, modest] = [client(), client(), client()]
  const taken = fill(greedy, 10_000) + fill(second, 10_000)
  assert.ok(taken > 200 && taken < 400, `${taken} texts of two greedy clients`)
  assert.equal(fill(modest, 50), 50)
  for (const announced of [greedy, second]) announced.close()
  const next = client()
  assert.ok(fill(next, 200) === 200, 'what they had is given back')
})
