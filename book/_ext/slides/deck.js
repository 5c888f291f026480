const root = document.documentElement;
const slides = [...document.querySelectorAll('.slide')];
const bar = document.createElement('nav');
bar.id = 'bar';
bar.setAttribute('aria-label', 'Slides');
const place = document.createElement('output');
place.setAttribute('aria-live', 'polite');
let now = 0;

const show = (number, focus = true) => {
  now = Math.min(Math.max(number, 0), slides.length - 1);
  slides.forEach((slide, index) => slide.classList.toggle('now', index === now));
  place.textContent = `${now + 1} of ${slides.length}`;
  history.replaceState(null, '', `#s${now + 1}`);
  slides[now].scrollTop = 0;
  slides[now].setAttribute('tabindex', '-1');
  if (focus) slides[now].focus({preventScroll: true});
};
const fromAddress = () => {
  const found = slides.findIndex(slide => `#${slide.id}` === location.hash);
  return found < 0 ? 0 : found;
};
const turn = () => {
  const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
};
const actions = {
  ArrowRight: () => show(now + 1), PageDown: () => show(now + 1), ' ': () => show(now + 1),
  ArrowLeft: () => show(now - 1), PageUp: () => show(now - 1),
  Home: () => show(0), End: () => show(slides.length - 1),
  n: () => document.body.classList.toggle('with-notes'), t: turn,
};
const button = (text, name, action) => {
  const made = document.createElement('button');
  made.type = 'button';
  made.textContent = text;
  made.setAttribute('aria-label', name);
  made.title = name;
  made.addEventListener('click', action);
  return made;
};
bar.append(
  button('‹', 'previous slide (left arrow)', actions.ArrowLeft), button('›', 'next slide (right arrow)', actions.ArrowRight),
  place, button('n', 'notes (n)', actions.n), button('◐', 'light or dark (t)', actions.t));
document.body.append(bar);
document.body.classList.add('stepping');

addEventListener('keydown', event => {
  const inside = event.target.closest('button, a, summary, details, .journey-stepper');
  const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!action || event.ctrlKey || event.metaKey || event.altKey || (inside && event.key === ' ')) return;
  event.preventDefault();
  action();
});
let from = null;
addEventListener('touchstart', event => {
  from = event.touches.length === 1 && !event.target.closest('pre, .journey-stepper, #bar') ? event.touches[0] : null;
}, {passive: true});
addEventListener('touchend', event => {
  if (!from) return;
  const to = event.changedTouches[0], x = to.clientX - from.clientX, y = to.clientY - from.clientY;
  if (Math.abs(x) > 50 && Math.abs(x) > 2 * Math.abs(y)) show(now + (x < 0 ? 1 : -1));
  from = null;
});
addEventListener('hashchange', () => { if (fromAddress() !== now) show(fromAddress()); });
show(fromAddress(), false);
