import { usePageState } from '../state/time-window.ts'

/** What is said of a table that knows the present alone, beside a window that is over. */
const PRESENT_WORDS = 'now, not in the window'

/** The caption of a table that knows the present alone: in a window that is over it says so. */
export function PresentCaption({ children = '' }: { readonly children?: string }) {
  const page = usePageState()
  const words = [children, page.isLive ? '' : PRESENT_WORDS].filter(Boolean).join('; ')
  return words !== '' && <span className="panel-caption">{words}</span>
}
