import type { Labels } from '@sonde/sdk'

/** Labels of a series as `sonde_absence` writes them: `namespace="ml",pod="a"`. What is not of this form is skipped. */
export function readSeries(text: string): Labels {
  const labels: Record<string, string> = {}
  for (const [, name = '', value = ''] of text.matchAll(/(?:^|,)([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g))
    labels[name] = value.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped))
  return labels
}
