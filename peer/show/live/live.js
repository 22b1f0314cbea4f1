
'use strict';
const part = (name) => document.getElementById(name);
if (location.search) history.replaceState(null, '', '/');  // the token stays out of the history
const source = new EventSource('/events');
let ended = false;
const say = (text, live) => {
  part('status').textContent = text;
  part('status').className = live ? 'live' : 'still';
};
source.onopen = () => say('live', true);
source.onerror = () => {
  if (!ended) say('no word from the run: trying again', false);
};
for (const name of ['head', 'figures', 'peers']) {
  source.addEventListener(name, (event) => {
    part(name).innerHTML = event.data;
  });
}
source.addEventListener('end', () => {
  ended = true;
  source.close();
  say('the run has ended', false);
});
