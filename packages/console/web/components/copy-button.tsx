import { useEffect, useState } from 'react'
import { Icon, type IconName } from './icon.tsx'

/** Copies a text. The clipboard's own interface exists on secure pages alone; elsewhere a selected field does it. */
export async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(text)
      return true
    } catch {
      // Refused, for example because the page has no focus: the older way may still work.
    }
  }
  const field = document.createElement('textarea')
  field.value = text
  field.className = 'visually-hidden'
  document.body.append(field)
  field.select()
  const isCopied = document.execCommand('copy')
  field.remove()
  return isCopied
}

/** Milliseconds that the button says that it copied. */
const SAID_MS = 2_000

/** Copies the result of `text` when it is pressed, and confirms it. */
export function CopyButton({
  label,
  icon = 'copy',
  text,
}: {
  readonly label: string
  readonly icon?: IconName
  readonly text: () => string
}) {
  const [said, setSaid] = useState<string>()
  useEffect(() => {
    if (said === undefined) return
    const timer = setTimeout(() => setSaid(undefined), SAID_MS)
    return () => clearTimeout(timer)
  }, [said])
  const copy = async (): Promise<void> => setSaid((await copyText(text())) ? 'Copied' : 'Not allowed here')
  return (
    <button type="button" className="button" onClick={() => void copy()}>
      <Icon name={said === 'Copied' ? 'ok' : icon} />
      <span aria-live="polite">{said ?? label}</span>
    </button>
  )
}
