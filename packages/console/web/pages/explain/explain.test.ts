import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ExplainLink } from '@sonde/sdk/api'
import { brokenLink, explainHeadline, fixParts } from './explain-words.ts'

const link = (name: string, state: ExplainLink['state']): ExplainLink => ({ name, state, tried: '', answer: '' })
const spaced = (text: string): string => text.replaceAll('\u00a0', ' ')

test('the first broken link is named, and what hangs on it', () => {
  const links = [link('file', 'ok'), link('permission', 'broken'), link('traffic', 'unknown'), link('value', 'unknown')]
  const answer = { of: 'mlx5_3', source: 'rdma', device: 'mlx5_3', links }
  assert.equal(brokenLink(answer)?.name, 'permission')
  const { tone, sentence, facts } = explainHeadline(answer)
  assert.equal(tone, 'warning')
  assert.equal(sentence, 'The chain to mlx5_3 breaks at permission')
  assert.equal(
    spaced(facts),
    'Walked for source rdma, device mlx5_3. 2 links behind it can be checked only after the fix.',
  )
})

test('a chain that holds is one quiet sentence; what was not reached is said', () => {
  const whole = explainHeadline({
    of: 'rdma',
    source: 'rdma',
    device: '',
    links: [link('file', 'ok'), link('traffic', 'ok')],
  })
  assert.deepEqual([whole.tone, whole.sentence], ['calm', 'Every link from the configuration to rdma holds'])
  const part = explainHeadline({
    of: 'rdma',
    source: '',
    device: '',
    links: [link('file', 'ok'), link('traffic', 'unknown')],
  })
  assert.deepEqual([part.sentence, part.facts], ['No link to rdma is broken', 'Not known: traffic.'])
  assert.equal(explainHeadline({ of: 'x', source: '', device: '', links: [] }).sentence, 'Nothing is known of x')
})

test('only a command is for copying; what is said about it stands beside it', () => {
  assert.deepEqual(fixParts('sudo ip link set eth3 up'), { command: 'sudo ip link set eth3 up', words: '' })
  assert.deepEqual(fixParts('mount -t proc proc /proc: every kernel has this file'), {
    command: 'mount -t proc proc /proc',
    words: 'every kernel has this file',
  })
  assert.equal(fixParts('npx sonde explain rdma; it lists the devices').command, 'npx sonde explain rdma')
  const left = 'add "- type: rdma" to data_sources'
  assert.deepEqual(fixParts(left), { command: '- type: rdma', words: left })
  assert.deepEqual(fixParts('plug the cable in'), { command: '', words: 'plug the cable in' })
})
