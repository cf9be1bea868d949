// Whether the pages that are made from the sources say what the sources say.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { configurationPage } from '../docs/configuration.ts'
import { readmesWithFields } from '../docs/field-tables.ts'
import { contactLinks, securityPage } from '../docs/front-door.ts'
import { hintsPage } from '../docs/hints.ts'
import { metricsPage } from '../docs/metrics.ts'
import { contributingPage } from '../docs/room-order.ts'
import { rulesSchemaText } from '../docs/rules-schema.ts'

/** Every generated page, by its path from the root. */
export function generatedPages(): Record<string, string> {
  return {
    '.github/ISSUE_TEMPLATE/config.yml': contactLinks(),
    'CONTRIBUTING.md': contributingPage(),
    'SECURITY.md': securityPage(),
    'docs/configuration.md': configurationPage(),
    'docs/hints.md': hintsPage(),
    'docs/metrics.md': metricsPage(),
    'docs/traceback.schema.json': rulesSchemaText(),
    ...readmesWithFields(),
  }
}

/** The pages that are stale or missing. */
export function findStalePages(root: string): string[] {
  return Object.entries(generatedPages()).flatMap(([path, text]) => {
    const file = join(root, path)
    const isFresh = existsSync(file) && readFileSync(file, 'utf8') === text
    return isFresh ? [] : [`${path} is stale; renew it with: npm run docs`]
  })
}
