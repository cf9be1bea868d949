import assert from 'node:assert/strict'
import { test } from 'node:test'
import { repositoryFields } from '../../scripts/addresses.ts'
import { contactLinks, securityPage } from '../../scripts/docs/front-door.ts'
import { withRunbooks } from '../../scripts/docs/runbooks.ts'

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

test('an alert names its runbook, in this repository if the runbooks have no address', () => {
  const rules = '- alert: A\n  annotations:\n    runbook_url: old\n- alert: B\n    runbook_url: docs/runbooks/A.md\n'
  const named = (folder: string) =>
    `- alert: A\n  annotations:\n    runbook_url: ${folder}/A.md\n- alert: B\n    runbook_url: ${folder}/B.md\n`
  assert.equal(withRunbooks(rules, EMPTY), named('docs/runbooks'))
  const runbooks = 'https://example.com/runbooks'
  for (const address of [runbooks, `${runbooks}/`])
    assert.equal(withRunbooks(rules, { ...EMPTY, runbooks: address }), named(runbooks))
})
