// The files of the front door that contain addresses: SECURITY.md and the list of contacts beside the issue templates.

import { type Addresses, readAddresses } from '../addresses.ts'

/** The file SECURITY.md: how to report a vulnerability. */
export function securityPage(addresses: Addresses = readAddresses()): string {
  const ways = reportWays(addresses)
  return `# Security policy

<!-- Made by \`npm run docs\` from scripts/docs/front-door.ts and addresses.json; do not edit. -->

## Report a vulnerability

Please do not open a public issue. Report it in private:

${ways.map((way) => `* ${way}`).join('\n')}

Include the version (\`sonde --version\`), the command or configuration, the steps that show the fault, and its effect.
The fix and the advisory are published together, and the advisory names you if you like.

## Versions

Only the newest release gets security fixes.

## Threat model

[docs/security.md](docs/security.md) lists each input of Sonde: who can reach it, its limits, and the tests that attack
it. A client, a file or a device that affects the data or the time of others is a vulnerability. So is code that runs
with more rights than its caller has.
`
}

/** The file \`.github/ISSUE_TEMPLATE/config.yml\`: links beside the issue templates. */
export function contactLinks({ repository }: Addresses = readAddresses()): string {
  const head = '# Made by `npm run docs` from scripts/docs/front-door.ts and addresses.json; do not edit.\n'
  if (repository === '') return `${head}blank_issues_enabled: false\n`
  return `${head}blank_issues_enabled: false
contact_links:
  - name: Vulnerability
    url: ${repository}/security/advisories/new
    about: Report a vulnerability in private.
  - name: Documentation
    url: ${repository}/blob/main/docs/README.md
    about: All pages by task.
`
}

function reportWays({ repository, securityContact }: Addresses): string[] {
  const ways: string[] = []
  if (securityContact !== '') ways.push(`by mail to ${securityContact}`)
  if (repository !== '') ways.push(`as a [security advisory](${repository}/security/advisories/new)`)
  return ways.length > 0 ? ways : ['to the sender of your copy. This project has no public address yet.']
}
