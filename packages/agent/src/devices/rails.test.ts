import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupIntoRails, type RailCandidate, type RailGpu, switchPort } from './rails.ts'

/** A device by its bridges, as `root/up/down`, and its NUMA node. */
const nic = (id: string, path = '', numaNode: number | null = null): RailCandidate => {
  return { id, path: path.split('/').filter(Boolean), numaNode }
}
const gpu = (index: number, path = '', numaNode: number | null = null): RailGpu => {
  return { ...nic(`g${index}`, path, numaNode), index }
}
const railsIn = (gpus: readonly RailGpu[], nics: readonly RailCandidate[]) =>
  Object.fromEntries([...groupIntoRails(gpus, nics)].sort(([a], [b]) => (a < b ? -1 : 1)))
const eight = <T>(make: (index: number) => T): T[] => Array.from({ length: 8 }, (_, index) => make(index))

test('eight GPUs and eight NICs below eight switches make eight rails', () => {
  const rails = groupIntoRails(
    eight((i) => gpu(i, `r${i}/u${i}/d${i}a`)),
    // The kernel counts NICs in another order than NVML counts GPUs: the bridge decides, not the number.
    eight((i) => nic(`n${i}`, `r${7 - i}/u${7 - i}/d${7 - i}b`)),
  )
  for (let i = 0; i < 8; i++) assert.deepEqual([rails.get(`g${i}`), rails.get(`n${7 - i}`)], [i, i])
  assert.equal(rails.size, 16)
})

test('two GPUs and two NICs below one switch go together in their order', () => {
  const below = (i: number, side: string) => `r${i >> 1}/u${i >> 1}/${side}${i}`
  const rails = groupIntoRails(
    eight((i) => gpu(i, below(i, 'g'))),
    eight((i) => nic(`n${i}`, below(i, 'n'))),
  )
  for (let i = 0; i < 8; i++) assert.deepEqual([rails.get(`g${i}`), rails.get(`n${i}`)], [i, i])
})

test('GPUs that share a NIC are in its rail, and so are NICs that share a GPU', () => {
  const shared = railsIn(
    [gpu(0, 'r0/u0/a'), gpu(1, 'r0/u0/b'), gpu(2, 'r1/u1/a'), gpu(3, 'r1/u1/b')],
    [nic('n0', 'r0/u0/c'), nic('n1', 'r1/u1/c')],
  )
  assert.deepEqual(shared, { g0: 0, g1: 0, g2: 2, g3: 2, n0: 0, n1: 2 })
  assert.deepEqual(railsIn([gpu(0, 'r0/u0/a')], [nic('n0', 'r0/u0/b'), nic('n1', 'r0/u0/c')]), { g0: 0, n0: 0, n1: 0 })
  const rest = railsIn([gpu(0, 'r/u/a'), gpu(1, 'r/u/b'), gpu(2, 'r/u/c')], [nic('n0', 'r/u/d'), nic('n1', 'r/u/e')])
  assert.deepEqual(rest, { g0: 0, g1: 0, g2: 0, n0: 0, n1: 0 }, 'three and two cannot be told apart')
})

test('the closest bridge decides where several are shared', () => {
  const rails = railsIn(
    [gpu(0, 'r/u/a/u1/b'), gpu(1, 'r/u/c/u2/d')],
    [nic('n0', 'r/u/c/u2/e'), nic('n1', 'r/u/a/u1/f')],
  )
  assert.deepEqual(rails, { g0: 0, g1: 1, n0: 1, n1: 0 })
})

test('a NIC far from every GPU is in no rail, and a GPU whose NIC left keeps the numbers of the others', () => {
  const rails = railsIn(
    [gpu(0, 'r0/u0/a'), gpu(1, 'r1/u1/a'), gpu(2, 'r2/u2/a')],
    [nic('n0', 'r0/u0/b'), nic('n2', 'r2/u2/b'), nic('storage', 'r9', 0)],
  )
  assert.deepEqual(rails, { g0: 0, n0: 0, g2: 2, n2: 2 })
})

test('one GPU and one NIC without a bridge in common go together where there is no choice', () => {
  assert.deepEqual(railsIn([gpu(0, 'r0')], [nic('n0', 'r1')]), { g0: 0, n0: 0 })
  const nodes = railsIn([gpu(0, 'r0', 0), gpu(1, 'r1', 1)], [nic('n0', 'r2', 1), nic('n1', 'r3', 0)])
  assert.deepEqual(nodes, { g0: 0, g1: 1, n0: 1, n1: 0 })
  assert.deepEqual(railsIn([gpu(0, 'r0', 0), gpu(1, 'r1', 0)], [nic('n0', 'r2', 0), nic('n1', 'r3', 0)]), {})
})

test('devices without a known location are in no rail', () => {
  assert.deepEqual(railsIn([gpu(0)], [nic('n0')]), {})
  assert.deepEqual(
    railsIn(
      eight((i) => gpu(i)),
      eight((i) => nic(`n${i}`)),
    ),
    {},
  )
  assert.deepEqual(railsIn([], [nic('n0', 'r0')]), {})
  assert.deepEqual(railsIn([gpu(0, 'r0')], []), {})
})

test('the switch is the closest that is shared, else the closest, and null without one', () => {
  const shared =
    (...ports: string[]) =>
    (port: string) =>
      ports.includes(port)
  assert.equal(switchPort(['r', 'u', 'd'], shared('r', 'u')), 'u')
  assert.equal(
    switchPort(['r', 'u', 'd', 'own', 'e'], shared('r', 'u', 'd')),
    'u',
    'a switch inside the adapter is no switch of others',
  )
  assert.equal(switchPort(['r', 'u', 'd', 'own', 'e'], shared()), 'own')
  assert.equal(switchPort(['r'], shared('r')), null)
  assert.equal(switchPort([], shared()), null)
})
