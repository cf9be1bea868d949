import assert from 'node:assert/strict'
import { test } from 'node:test'
import { repositoryFields } from '../../scripts/addresses.ts'
import { contactLinks, securityPage } from '../../scripts/docs/front-door.ts'

const EMPTY = { repository: '', securityContact: '', runbooks: '' }
const KNOWN = { ...EMPTY, repository: 'https://example.com/sonde', securityContact: 'security@example.com' }

test('texts leave out an address that is still empty', () => {
  assert.deepEqual(repositoryFields(EMPTY, 'packages/sdk'), {})
  for (const text of [securityPage(EMPTY), contactLinks(EMPTY)]) assert.doesNotMatch(text, /https?:|@/)
})

test('the policy, the contacts and the packages name each known address', () => {
  assert.match(securityPage(KNOWN), /by mail to security@example\.com/)
  for (const text of [securityPage(KNOWN), contactLinks(KNOWN)])
    assert.ok(text.includes('https://example.com/sonde/security/advisories/new'))
  assert.deepEqual(repositoryFields(KNOWN, 'packages/sdk').repository, {
    type: 'git',
    url: 'git+https://example.com/sonde.git',
    directory: 'packages/sdk',
  })
})
