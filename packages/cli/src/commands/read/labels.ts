import type { SourceInfo } from '@sonde/sdk'
import { ownLabels } from '@sonde/sdk/internal'

type Named = Pick<SourceInfo, 'id' | 'tag' | 'labels'>

/** The labels of a source, each as `name=value`, without those that repeat its name and tag. */
export function labelTexts(source: Named): string[] {
  return Object.entries(ownLabels(source)).map(([name, value]) => `${name}=${value}`)
}

/** Whether a source has such labels. */
export function hasLabels(source: Named): boolean {
  return labelTexts(source).length > 0
}

/** Such labels as a JSON object; empty if there are none. */
export function labelsJson(source: Named): string {
  return hasLabels(source) ? JSON.stringify(ownLabels(source)) : ''
}
